"""Domain adaptation when class shares differ: a labelled source, a target without labels.

:func:`adapt` predicts the target's classes and says how far to trust that, :class:`Adapter` is
the same in scikit-learn's manner, :func:`labelshift` estimates class shares from a classifier's
probabilities, :func:`watch` watches these batch after batch, :func:`load` reads a saved model, and :class:`Outcome` a finished adaptation.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from ._adapt import adapt
    from ._labelshift import LabelShift, labelshift
    from ._model import Model, load
    from ._native import Error
    from ._lines import Interval
    from ._outcome import Answer, Evaluation, Outcome
    from ._sklearn import Adapter
    from ._watch import Watched, watch

    __version__: str

__all__ = ["Adapter", "Answer", "Error", "Evaluation", "Interval", "LabelShift", "Model", "Outcome", "Watched", "adapt", "labelshift", "load", "watch"]

# Where names are. What needs NumPy is imported when it is asked for: the console commands, which
# are in this package too, need none of it.
_MODULES = {
    "_adapt": ("adapt",),
    "_labelshift": ("LabelShift", "labelshift"),
    "_model": ("Model", "load"),
    "_native": ("Error",),
    "_lines": ("Interval",),
    "_outcome": ("Answer", "Evaluation", "Outcome"),
    "_sklearn": ("Adapter",),
    "_watch": ("Watched", "watch"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("._native", __name__).version()
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(import_module("." + module, __name__), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
