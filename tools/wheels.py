"""`make wheels`: a wheel in dist/ for each system that this machine can build for, and a line for each that it cannot.

On Linux: manylinux2014 for x86_64 and aarch64, linked by zig against glibc 2.17. On macOS and Windows: the system's
own. A wheel has the README as an index shows it: links lead to the repository, or are plain text while pyproject.toml
names none.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
RAW, DIST = ROOT / "target" / "wheels-raw", ROOT / "dist"

MOST_BYTES = 2_000_000
"""What a wheel may weigh."""

POLICY = "manylinux2014"
TARGETS = {
    "Linux": ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"),
    "Darwin": ("aarch64-apple-darwin", "x86_64-apple-darwin"),
    "Windows": ("x86_64-pc-windows-msvc",),
}
"""Rust's names of the systems that each machine builds for."""

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def for_index(text: str, repository: str | None) -> str:
    """A page whose relative links lead into the repository; without one they are text, and pictures are left out."""

    def link(found: re.Match[str]) -> str:
        picture, words, to = found.groups()
        if re.match(r"[a-z]+:", to):
            return found[0]
        if repository is None or to.startswith("#"):
            return "" if picture else words
        return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/main/{to})"

    parts = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)  # code stays as it is
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def finish(raw: Path, into: Path, repository: str | None, archive: type[zipfile.ZipFile] = zipfile.ZipFile) -> Path:
    """The wheel as it is published: the description for an index, everything deflated by `archive`."""
    done = into / raw.name
    with zipfile.ZipFile(raw) as old, archive(done, "w", zipfile.ZIP_DEFLATED) as new:
        content = {info.filename: old.read(info) for info in old.infolist()}
        (metadata,) = (name for name in content if name.endswith(".dist-info/METADATA"))
        (record,) = (name for name in content if name.endswith(".dist-info/RECORD"))
        head, blank, text = content[metadata].decode().partition("\n\n")
        content[metadata] = f"{head}{blank}{for_index(text, repository)}".encode()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content[metadata]).digest()).rstrip(b"=").decode()
        line = f"{metadata},sha256={digest},{len(content[metadata])}"
        lines = content[record].decode().splitlines()
        content[record] = "".join(f"{line if it.startswith(f'{metadata},') else it}\n" for it in lines).encode()
        for info in old.infolist():
            kept = zipfile.ZipInfo(info.filename, info.date_time)
            kept.external_attr, kept.compress_type = info.external_attr, zipfile.ZIP_DEFLATED
            new.writestr(kept, content[info.filename])
    return done


def has_std(target: str) -> bool:
    """Whether Rust's standard library is installed for a target."""
    command = ["rustc", "--print", "target-libdir", "--target", target]
    found = subprocess.run(command, capture_output=True, text=True)
    return found.returncode == 0 and Path(found.stdout.strip()).is_dir()


def built(target: str) -> Path:
    """The wheel of a target, as maturin makes it."""
    shutil.rmtree(RAW, ignore_errors=True)
    linux = ["--zig", "--compatibility", POLICY] if "linux" in target else []
    command = ["maturin", "build", "--release", "--locked", "--target", target, *linux, "--out", str(RAW)]
    subprocess.run(command, cwd=ROOT, check=True)
    (found,) = RAW.glob("*.whl")
    return found


def wrong(wheel: Path) -> str | None:
    """What is wrong with a wheel; None: nothing."""
    if (size := wheel.stat().st_size) > MOST_BYTES:
        return f"{size} bytes, more than {MOST_BYTES}"
    if "linux" not in wheel.name:
        return None
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True)
    said = " ".join(shown.stdout.split())
    tag = re.search(r'consistent with the following platform tag: "([^"]+)"', said)
    found = re.match(r"manylinux_2_(\d+)_", tag[1]) if tag else None
    if found is None or int(found[1]) > 17:
        return f"auditwheel: {tag[1] if tag else said or shown.stderr.strip()}, not {POLICY}"
    return None


def main() -> None:
    import zopfli  # 3 % below zlib; the tests of `finish` do without it

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    repository = project.get("urls", {}).get("Repository")
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob(f"{project['name']}-*.whl"):
        old.unlink()
    made = []
    for target in TARGETS[platform.system()]:
        if not has_std(target):
            print(f"wheels: left out {target}: Rust has no standard library for it here; rustup target add {target}")
            continue
        wheel = finish(built(target), DIST, repository, zopfli.ZipFile)
        if why := wrong(wheel):
            sys.exit(f"wheels: {wheel.name}: {why}")
        made.append(wheel)
        print(f"wheels: {wheel.relative_to(ROOT)}, {wheel.stat().st_size / 1e6:.2f} MB")
    if not made:
        sys.exit("wheels: none was made")
    if repository is None:
        print("wheels: [project.urls] in pyproject.toml names no Repository: links of the README are plain text")


if __name__ == "__main__":
    main()
