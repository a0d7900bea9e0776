"""Files that packages of Debian carry, fetched once into build/deb of the repository; nothing of them is installed or run."""
import pathlib
import subprocess

from kinds import r

FOLDER = pathlib.Path(__file__).parents[3] / "build" / "deb"
FILES = FOLDER / "files"
LIBRARY = FILES / "usr/lib/R/site-library"


def unpacked(*packages):
    """The folder that packages are unpacked into."""
    FILES.mkdir(parents=True, exist_ok=True)
    for package in packages:
        if not (FOLDER / package).exists():
            subprocess.run(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", package], cwd=FOLDER, check=True)
            archive, = FOLDER.glob(package + "_*.deb")
            subprocess.run(["dpkg-deb", "-x", archive, FILES], check=True)
            archive.rename(FOLDER / package)
    return FILES


def frame(package, dataset, item=None):
    """Columns by name of a data set of a package of R."""
    unpacked("r-cran-" + package.lower())
    return r.frame(package, dataset, item, library=LIBRARY)
