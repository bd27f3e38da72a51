"""tidu against PyTorch (and JAX): one table of speed ratios, ``python -m benchmarks``.

How a figure is made
--------------------
* Every library runs in a worker process of its own: two thread pools in one process disturb each other.
* A row is written once, as a function of the module ``torch``, and runs unchanged on each library.
* Before anything is timed, the results of the row's first steps are compared.
* A turn times a row several times over an inner loop of some 10 to 30 ms and keeps the best; turns of the
  libraries alternate. A row's figure is the ratio of the medians, over the rounds, of those minima.
* The garbage collector stays on, since a user's program runs with it on.

See ``race.py`` (the turns), ``worker.py`` (the timing), ``report.py`` (the table), ``rows/`` (what is timed).
"""
