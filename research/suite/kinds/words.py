"""Words of nine languages, and of a politician's messages."""
import functools
import gettext

import numpy as np

from draws import Domain, Task, by_class, halves, redraw
from kinds import r, texts

LANGUAGES = {"da": "danish", "de": "ngerman", "en": "american-english", "es": "spanish", "fr": "french", "it": "italian", "nl": "dutch", "pt": "portuguese", "sv": "swedish"}


@functools.lru_cache(maxsize=None)
def words(language, count=4000):
    with open("/usr/share/dict/" + LANGUAGES[language], encoding="latin-1" if language == "sv" else "utf-8") as f:
        found = [line.strip().lower() for line in f if line.strip().isalpha() and len(line) > 5]
    return [found[i] for i in np.random.default_rng(142).permutation(len(found))[:count]]


@functools.lru_cache(maxsize=None)
def names(standard):
    """What each language calls the countries or languages of a standard, if no other calls it so."""
    said = {}
    for language in LANGUAGES:
        with open(f"/usr/share/locale/{'fr' if language == 'en' else language}/LC_MESSAGES/{standard}.mo", "rb") as f:
            catalogue = gettext.GNUTranslations(f)._catalog
        for key, text in sorted((key, text) for key, text in catalogue.items() if isinstance(key, str) and key):
            said.setdefault((key if language == "en" else text).lower(), set()).add(language)
    return [(text, *found) for text, found in sorted(said.items()) if len(found) == 1]


def languages():
    """Words of nine languages in 64 principal directions of their trigrams; and in them, names of countries and languages."""
    def pool(standard=None):
        said = names(standard) if standard else [(word, language) for language in LANGUAGES for word in words(language)]
        return Domain(np.array([text for text, _ in said], object), np.array([language for _, language in said]))

    for seed, (name, group, source, target) in enumerate([("words-countries", "gap", pool(), pool("iso_3166-1")), ("countries-languages", "gap", pool("iso_3166-1"), pool("iso_639-2")),
                                                          ("words-shares", "label-shift", pool(), pool())], 1):
        random = np.random.default_rng([143, seed])
        if group == "label-shift":
            source, target = (source.take(rows) for rows in halves(len(source), random))
        source, target = (part.take(redraw(part.labels, 6000, random)) for part in (source, target))
        yield Task(name, group, seed, *texts.directions(source, target, analyzer="char_wb", ngram_range=(1, 3)))


ANDROID, IPHONE, WEB = "Twitter for Android", "Twitter for iPhone", "Twitter Web Client"


def tweets():
    """A politician's messages in 64 principal directions of their words; the device that sent them is the class."""
    columns = r.frame("dslabs", "trump_tweets")
    year = np.array([int(text[:4]) for text in columns["created_at"]])

    def said(years, *devices):
        rows = (columns["is_retweet"] == "FALSE") & np.isin(year, years) & np.isin(columns["source"], devices)
        return r.some(Domain(columns["text"][rows], columns["source"][rows].astype(str)), 1500, 160, *years)

    earlier = said([2013, 2014], ANDROID, WEB)
    parts = by_class(earlier.labels, (0.7, 0.35), np.random.default_rng([161, 3]))
    plans = [("2015-2016", "gap", said([2015], ANDROID, IPHONE), said([2016], ANDROID, IPHONE)), ("2016-2017", "gap", said([2016], ANDROID, IPHONE), said([2017], ANDROID, IPHONE)),
             ("shares", "label-shift", *(earlier.take(rows) for rows in parts))]
    for seed, (name, group, source, target) in enumerate(plans, 1):
        yield Task(name, group, seed, *texts.directions(source, target, ngram_range=(1, 1), token_pattern=r"(?u)\w+|[^\w\s]"))
