"""Counts the checks of a script, and prints the text of each that fails."""
passed = failed = 0


def check(condition, text):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print(text)


def finish():
    """Prints the counts. Returns the exit status."""
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
