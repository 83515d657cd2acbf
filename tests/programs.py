"""Programs that the scripts of this folder start."""

import atexit
import subprocess
import sys
import threading
from pathlib import Path

started = []


@atexit.register
def stop_all():
    for process in started:
        stopped(process)


def built(binary):
    """The absolute path of the binary to test."""
    path = Path(binary).absolute()
    if not path.exists():
        sys.exit(f"{binary} is missing: build it with `cargo build --release`")
    return path


def listening(command, **more):
    """Starts a program that says the address it listens on; returns it with the address."""
    process = subprocess.Popen(
        list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, **more)
    started.append(process)
    for line in process.stdout:
        if "http://" in line:
            # Its output is read on, or it would block.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, "http://" + line.split("http://")[1].split()[0].rstrip(";,")
    sys.exit(f"{command} ended")


def stopped(process):
    if process and process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
