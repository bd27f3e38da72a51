"""The table of outcomes, failures grouped by what they say, and the list of expected failures."""

from __future__ import annotations

import collections
import re
import tomllib
from pathlib import Path

from .checks import CHECKS, EXTRA, FAIL, OK, SCOPE, TORCH, Outcome
from .referee import REFEREES

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.toml"
TABLE = HERE.parent / "docs" / "parity.md"
MARKS = {OK: "ok", FAIL: "FAIL", TORCH: "·", SCOPE: "–"}

Results = dict[str, dict[str, Outcome]]


def expected_failures() -> dict[tuple[str, str], str]:
    """(entry, check) -> the reason it is known to fail."""
    if not EXPECTED.exists():
        return {}
    tables = tomllib.loads(EXPECTED.read_text())
    return {(entry, check): reason for check, rows in tables.items() for entry, reason in rows.items()}


def write_expected(results: Results, keep: dict[tuple[str, str], str]) -> None:
    """Make the list say what these results say; entries that were not run keep their lines."""
    lines = dict(keep)
    for entry, outcomes in results.items():
        for check, outcome in outcomes.items():
            lines.pop((entry, check), None)
            if outcome.status == FAIL:
                lines[entry, check] = keep.get((entry, check)) or outcome.reason[:150]
    text = ["# Checks that are known to fail: [check] entry = reason. `python -m parity.sweep --update` rewrites this."]
    for check in CHECKS + EXTRA:
        rows = sorted((entry, reason) for (entry, c), reason in lines.items() if c == check)
        if rows:
            text.append(f"\n[{check}]")
            text += [f"{_quoted(entry)} = {_quoted(reason)}" for entry, reason in rows]
    EXPECTED.write_text("\n".join(text) + "\n")


def _quoted(text: str) -> str:
    clean = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return '"' + "".join(c if c.isprintable() else " " for c in clean) + '"'


def surprises(results: Results, expected: dict[tuple[str, str], str]) -> list[str]:
    """What the list of expected failures does not say: failures it lacks, and passes it calls failures."""
    found = []
    for entry, outcomes in results.items():
        for check, outcome in outcomes.items():
            known = (entry, check) in expected
            if outcome.status == FAIL and not known:
                found.append(f"{entry}.{check} fails: {outcome.reason}")
            elif outcome.status != FAIL and known:
                found.append(f"{entry}.{check} passes but is listed in expected.toml")
    return found


def whole(outcomes: dict[str, Outcome]) -> bool:
    return all(outcomes[c].status != FAIL for c in CHECKS if c in outcomes)


def in_scope(results: Results) -> Results:
    return {e: o for e, o in results.items() if any(x.status != SCOPE for x in o.values())}


def totals(results: Results) -> str:
    """One line a check, and the number of entries that are whole."""
    rows = [f"{'check':<10}{'ok':>6}{'FAIL':>6}{'not in torch':>14}{'out of scope':>14}"]
    for check in CHECKS + EXTRA:
        counts = collections.Counter(o[check].status for o in results.values() if check in o)
        if counts:
            rows.append(f"{check:<10}{counts[OK]:>6}{counts[FAIL]:>6}{counts[TORCH]:>14}{counts[SCOPE]:>14}")
    mine = in_scope(results)
    good = sum(map(whole, mine.values()))
    share = f" ({100 * good / len(mine):.1f}%)" if mine else ""
    rows.append(f"{good} of {len(mine)} entries in scope whole{share}; {len(results) - len(mine)} not in scope")
    return "\n".join(rows)


def groups(results: Results, most: int = 60) -> str:
    """Failures, the commonest message first, with the (entry, check) pairs that have it."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for entry, outcomes in results.items():
        for check, outcome in outcomes.items():
            if outcome.status == FAIL:
                found[generic(outcome.reason)].append(f"{entry}.{check}")
    lacking = {m.removeprefix("missing: "): len(w) for m, w in found.items() if m.startswith("missing: ")}
    found = collections.defaultdict(list, {m: w for m, w in found.items() if not m.startswith("missing: ")})
    rows = []
    if lacking:
        names = " ".join(f"{n}({c})" for n, c in sorted(lacking.items(), key=lambda item: (-item[1], item[0])))
        rows.append(f"missing names, with the number of checks that stop there:\n       {names}")
    for message, where in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))[:most]:
        shown = " ".join(where[:12]) + (f" ... {len(where) - 12} more" if len(where) > 12 else "")
        rows.append(f"{len(where):>5}  {message}\n       {shown}")
    if len(found) > most:
        rows.append(f"... {len(found) - most} more messages")
    return "\n".join(rows)


def generic(message: str) -> str:
    """A message without its numbers, to group by."""
    if message.startswith("missing: "):
        return message
    message = re.sub(r"values differ: .*", "values differ", message)
    message = re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?j?", "N", message)
    message = re.sub(r"(\[N\])+: ", "", message)
    return re.sub(r"[\[(]N(, ?N)*,?[\])]", "(..)", message)[:160]


def write_table(results: Results, path: Path = TABLE) -> None:
    """The table by entry, as Markdown."""
    head = ["entry", *CHECKS, *EXTRA]
    text = [
        "# Parity with PyTorch",
        "",
        "Written by `make parity` from PyTorch's own op database. `ok`: the same as PyTorch; `FAIL`: not (the",
        "reason is in `parity/expected.toml`); `·`: PyTorch has no such thing for this entry; `–`: not in scope,",
        "for the reason at the end. The last six columns (gradients in narrower dtypes, exact error text, refused dtypes, strides of fresh",
        "results, names in the graph, bytes retained for backward) are not counted in *whole*.",
        "",
        "```",
        totals(results),
        "```",
        "",
        "| " + " | ".join(head) + " |",
        "|" + " --- |" * len(head),
    ]
    mine = in_scope(results)
    for entry in sorted(mine):
        row = [MARKS[mine[entry][c].status] if c in mine[entry] else "" for c in CHECKS + EXTRA]
        text.append(f"| `{entry}` | " + " | ".join(row) + " |")
    text += ["", "## Not in scope", ""]
    for entry in sorted(set(results) - set(mine)):
        text.append(f"- `{entry}`: {next(iter(results[entry].values())).reason}")
    partly = {(e, c): x.reason for e, o in mine.items() for c, x in o.items() if x.status == SCOPE}
    text += [f"- `{e}`, {c}: {reason}" for (e, c), reason in sorted(partly.items())]
    text += ["", "## Where PyTorch is wrong", ""]
    text += [
        "There `ok` means: the same as the same computed in another way, by PyTorch's ops (`parity/referee.py`).",
        "",
    ]
    text += [f"- `{e}`, {c}: {reason}" for (e, c), (reason, _) in sorted(REFEREES.items())]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(text) + "\n")
