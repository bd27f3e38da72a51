"""The table: printed line by line, written as Markdown or JSON, and judged."""

from __future__ import annotations

import datetime
import math
import os
import platform
import time
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.race import Result
from benchmarks.row import Group

NAME_WIDTH = 44


def duration(seconds: float) -> str:
    """Three digits and a unit: ``1.06 us``, ``23.4 ms``."""
    for unit, scale in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def machine() -> str:
    """The processor, its cores and the Python that runs."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass  # not Linux
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def others_share(seconds: float = 0.3) -> float:
    """How much of the machine other programs use, from 0 to 1, by watching while this one sleeps."""

    def ticks() -> tuple[int, int]:
        with open("/proc/stat") as lines:
            numbers = [int(part) for part in lines.readline().split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # all, and those spent idle or waiting for a disk

    try:
        before = ticks()
        time.sleep(seconds)
        total, idle = (now - then for now, then in zip(ticks(), before, strict=True))
        return 1 - idle / total if total > 0 else 0.0
    except (OSError, IndexError, ValueError):
        return 0.0  # not Linux


def conditions(versions: dict[str, str]) -> str:
    """What the figures were taken with: machine, versions, date, and a warning where others disturb."""
    share = others_share()
    parts = [
        machine(),
        ", ".join(f"{name} {version}" for name, version in versions.items()),
        datetime.date.today().isoformat(),
    ]
    if share > 0.1:
        parts.append(f"other programs were using {share:.0%} of the machine, so these figures are unreliable")
    return "; ".join(parts)


def pairs(libraries: Sequence[str]) -> list[tuple[str, str]]:
    """The ratios shown: the first library to each of the others."""
    return [(libraries[0], other) for other in libraries[1:]]


def cells(result: Result, libraries: Sequence[str]) -> list[str]:
    """A row's figures: a time for each library, then the ratios; ``?`` where rounds disagree much."""
    times = []
    for library in libraries:
        seconds = result.seconds(library)
        if seconds is None:
            times.append("missing" if library in result.missing else "")
        else:
            times.append(duration(seconds) + "?" * result.unsteady(library))
    ratios = []
    for mine, other in pairs(libraries):
        ratio = result.ratio(mine, other)
        doubt = "?" * (result.unsteady(mine) or result.unsteady(other))
        ratios.append("" if ratio is None else f"{ratio:.2f}{doubt}")
    return times + ratios


def titles(libraries: Sequence[str]) -> list[str]:
    """The headings over :func:`cells`."""
    return [*libraries, *(f"/ {other}" for _, other in pairs(libraries))]


def line(name: str, parts: Iterable[str]) -> str:
    """One line of the printed table."""
    return f"{name:<{NAME_WIDTH}}" + "".join(f"{part:>11}" for part in parts)


def reasons(result: Result, libraries: Sequence[str]) -> list[str]:
    """Why figures are missing."""
    return [f"{lib} missing: {result.missing[lib]}" for lib in libraries if lib in result.missing]


def verdict(group: Group, results: Sequence[Result], mine: str, baseline: str) -> str:
    """Judges a group in a line, which starts with pass or FAIL where the group has a bar.

    A row without a ratio fails its group: what cannot run is not fast. The bars are ratios to PyTorch;
    beside another library only the figures are told, of the rows that it has.
    """
    ratios = {r.row.name: r.ratio(mine, baseline) for r in results}
    known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    has_bar = baseline == "torch"
    if not known and not has_bar:
        return ""
    parts, misses = [], 0
    if known:
        mean = math.exp(math.fsum(map(math.log, known.values())) / len(known))
        worst = max(known, key=known.__getitem__)
        for text, figure, bar in (
            (f"geometric mean {mean:.2f}", mean, group.geomean),
            (f"worst {known[worst]:.2f}, {worst}", known[worst], group.limit),
        ):
            parts.append(f"{text} (bar {bar})" if bar and has_bar else text)
            misses += bool(bar and figure > bar)
    if has_bar and group.aim:
        reached = sum(ratio <= group.aim for ratio in known.values())
        parts.append(f"{reached} of {len(ratios)} reach the aim of {group.aim}")
    if has_bar and len(known) < len(ratios):
        parts.append(f"{len(ratios) - len(known)} of {len(ratios)} missing")
        misses += 1
    text = f"{group.title}: " + "; ".join(parts)
    if not has_bar or not (group.geomean or group.limit):
        return text
    return ("FAIL  " if misses else "pass  ") + text


def grouped(results: Iterable[Result]) -> dict[Group, list[Result]]:
    """The results by group, in the order of the table."""
    groups: dict[Group, list[Result]] = {}
    for result in results:
        groups.setdefault(result.row.group, []).append(result)
    return groups


def markdown(results: Sequence[Result], libraries: Sequence[str], taken_with: str) -> str:
    """The whole table as a Markdown page's body; `taken_with` is :func:`conditions`."""
    lines = [f"{taken_with}.", ""]
    head = titles(libraries)
    for group, rows in grouped(results).items():
        lines += [f"### {group.title[0].upper()}{group.title[1:]}", ""]
        lines += ["| | " + " | ".join(head) + " |", "| --- |" + " ---: |" * len(head)]
        lines += [f"| {r.row.name} | " + " | ".join(cells(r, libraries)) + " |" for r in rows]
        notes = [f"- {r.row.name}: {reason}" for r in rows for reason in reasons(r, libraries)]
        for mine, other in pairs(libraries):
            judged = verdict(group, rows, mine, other)
            notes += [f"- {mine} / {other}, {judged}"] if judged else []
        lines += ["", *notes, ""] if notes else [""]
    return "\n".join(lines)


def record(results: Sequence[Result], taken_with: str) -> dict[str, Any]:
    """Everything measured, for ``--json``."""
    return {
        "conditions": taken_with,
        "rows": [
            {"name": r.row.name, "group": r.row.group.title, "rounds": r.rounds, "missing": r.missing} for r in results
        ],
    }
