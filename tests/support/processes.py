"""Work in real processes, which may be killed at any point."""

import os
import pickle
import signal
import traceback


class Child:
    """A forked process that runs `work` and sends back what it returns, and what it reported on the way."""

    def __init__(self, work, *arguments):
        self._reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(writer)
            return
        os.close(self._reader)
        code = 0
        try:
            report = _Report(writer)
            report(("result", work(report, *arguments)))
        except BaseException:
            traceback.print_exc()
            code = 1
        os._exit(code)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def join(self):
        """The exit code (negative for a signal), and everything that was reported."""
        with os.fdopen(self._reader, "rb") as reader:
            data = reader.read()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        reports = []
        while data:
            size = int.from_bytes(data[:4], "big")
            if len(data) < 4 + size:
                break  # killed while it wrote
            reports.append(pickle.loads(data[4 : 4 + size]))  # noqa: S301
            data = data[4 + size :]
        return code, reports

    def result(self):
        """What the work returned; it must have ended well."""
        code, reports = self.join()
        assert code == 0, f"the process ended with {code}"
        return reports[-1][1]


class _Report:
    """Sends one object to the parent, at once."""

    def __init__(self, handle):
        self._handle = handle

    def __call__(self, value):
        data = pickle.dumps(value)
        os.write(self._handle, len(data).to_bytes(4, "big") + data)


def kill_myself():
    os.kill(os.getpid(), signal.SIGKILL)
