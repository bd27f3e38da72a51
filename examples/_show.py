"""What the examples show on the way: a progress bar with tqdm, and pictures with matplotlib, where these are installed."""

import sys


class _Quiet:
    """The loop without its bar."""

    def __init__(self, iterable):
        self.iterable = iterable

    def __iter__(self):
        return iter(self.iterable)

    def set_postfix(self, **values):
        pass


def progress(iterable, **options):
    """The iterable with a progress bar on standard error; `set_postfix(loss=...)` writes beside it."""
    try:
        from tqdm import tqdm
    except ImportError:
        print("(no progress bar without tqdm: pip install 'tidu[examples]')", file=sys.stderr)
        return _Quiet(iterable)
    return tqdm(iterable, **options)


def picture(path, draw):
    """Let `draw(plt)` draw, and save it; nothing where no path is given. Needs no screen."""
    if not path:
        return
    try:
        import matplotlib
    except ImportError:
        print("(no picture without matplotlib: pip install 'tidu[examples]')", file=sys.stderr)
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    draw(plt)
    plt.tight_layout()
    plt.savefig(path, dpi=120)
    plt.close("all")
    print(f"(picture: {path})", file=sys.stderr)


def curve(path, title, **series):
    """Draw learning curves, one for each keyword: values by step, or (steps, values)."""

    def draw(plt):
        plt.figure(figsize=(6, 4))
        for name, values in series.items():
            steps, values = values if isinstance(values, tuple) else (range(len(values)), values)
            plt.plot(steps, values, label=name.replace("_", " "))
        plt.title(title)
        plt.xlabel("step")
        plt.legend()
        plt.grid(alpha=0.3)

    picture(path, draw)
