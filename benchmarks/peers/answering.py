"""Reads what is asked from the standard input, answers it as often as is wanted, and prints all answers as JSON.

A program that compares a library runs in an environment of its own, with this file beside it. What a library can't do
is not in its list of jobs; what fails is printed as the text of the failure.
"""

import json
import sys


def answer(jobs, most=None):
    """Print, for every job that is wanted and known, a list of answers or the text of what went wrong.

    A job is a function of what is given that returns another function, which draws one answer. Its name may end in
    ", variant". `most` limits how often a slow job is done.
    """
    given, found = json.load(sys.stdin), {}
    for name, prepare in jobs.items():
        job = name.partition(",")[0]
        if job not in given["draws"]:
            continue
        try:
            draw = prepare(given)
            draws = min(given["draws"][job], (most or {}).get(job, given["draws"][job]))
            found[name] = [draw() for _ in range(draws)]
        except Exception as problem:
            found[name] = f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem) else ''}"
    json.dump(found, sys.__stdout__)
