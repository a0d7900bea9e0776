"""Movies, first names, novels, sayings, emoji and spoken syllables."""
import glob
import json
import os
import re
import subprocess

import numpy as np
import soundfile
from PIL import Image

from draws import Domain, Task, by_class, halves, redraw
from kinds import npm, r, society, sounds, tables, texts


def movies():
    """Movies by money, length, genre and what was thought of them; for whom they are is the class."""
    rows = [row for row in npm.vega("movies.json") if row["MPAA Rating"] in ("PG", "PG-13", "R") and re.search(r"(19[5-9]|200|2010)\d?$", str(row["Release Date"]))]
    values = npm.columns(rows, ["US Gross", "Worldwide Gross", "Production Budget", "Running Time min", "Rotten Tomatoes Rating", "IMDB Rating", "IMDB Votes"], ["Source", "Major Genre", "Creative Type"])
    domain, year = Domain(values, np.array([row["MPAA Rating"] for row in rows])), np.array([int(row["Release Date"][-4:]) for row in rows])
    earlier, later = (domain.take(np.flatnonzero(part)) for part in (year < 2000, year >= 2005))
    yield Task("nineties-later", "gap", 1, society.evenly(earlier, 200, 241, 0), r.some(later, 800, 241, 1))
    yield from tables.tasks(242, society.evenly(domain, 400, 242, 0), [("shares", (0.3, 0.5, 0.7))])


def first_names(*locales):
    """First names and the sex that they are given to, of those given to one."""
    folder = npm.unpacked("@faker-js/faker", lambda path: path.startswith("package/dist/") and path.endswith(".cjs"))
    script = f"const {{allLocales}} = require({json.dumps(str(folder / 'dist/index.cjs'))}); console.log(JSON.stringify({json.dumps(locales)}.map(l => allLocales[l].person.first_name)))"
    sides = {"woman": set(), "man": set()}
    for said in json.loads(subprocess.run(["node", "-e", script], capture_output=True, check=True, text=True).stdout):
        sides["woman"].update(name.lower() for name in said["female"])
        sides["man"].update(name.lower() for name in said["male"])
    both = sides["woman"] & sides["man"]
    found = sorted((name, sex) for sex, names in sides.items() for name in names - both)
    return Domain(np.array([name for name, _ in found], object), np.array([sex for _, sex in found]))


def names():
    """First names in 64 principal directions of their trigrams; the sex is the class."""
    english, italian, german = first_names("en", "en_AU", "en_ZA", "en_GH"), first_names("it"), first_names("de", "nl", "de_CH")
    parts = by_class(german.labels, (0.3, 0.7), np.random.default_rng([243, 2]))
    for seed, (name, group, source, target) in enumerate([("english-italian", "gap", english, italian), ("german-shares", "label-shift", *map(german.take, parts))], 1):
        source, target = (r.some(part, 1200, 244, seed, i) for i, part in enumerate((source, target)))
        yield Task(name, group, seed, *texts.directions(source, target, analyzer="char_wb", ngram_range=(1, 3)))


NOVELS = ["sensesensibility", "prideprejudice", "mansfieldpark", "emma", "northangerabbey", "persuasion"]


def passages(words=150):
    """Successive passages of so many words, their novels, and where in it they stand, from 0 to 1."""
    found, labels, places = [], [], []
    for novel in NOVELS:
        script = f'data(list="{novel}", package="janeaustenr"); cat({novel}, sep="\\n")'
        said = subprocess.run(["Rscript", "--vanilla", "-e", script], capture_output=True, check=True, text=True).stdout.split()[30:]
        starts = range(0, len(said) - words, words)
        found += [" ".join(said[start:start + words]) for start in starts]
        labels += [novel] * len(starts)
        places += [start / len(said) for start in starts]
    return Domain(np.array(found, object), np.array(labels)), np.array(places)


def common_words(said):
    """Passages without words that begin with a capital letter, as names do."""
    return Domain([" ".join(word for word in text.split() if not word[0].isupper()) for text in said.values], said.labels)


def novels():
    """Passages of six novels by one author in 64 principal directions of their words, without names; the novel is the class."""
    said, place = passages()
    first = np.flatnonzero(place < 0.4)
    parts = [first[redraw(said.labels[first], 2000, np.random.default_rng([245, 2]))]]
    last = np.flatnonzero(place > 0.6)
    everything = redraw(said.labels, 2600, np.random.default_rng([246, 1]), concentration=20.0)
    shares = [everything[rows] for rows in by_class(said.labels[everything], (0.7, 0.3, 0.5, 0.8, 0.4), np.random.default_rng([246, 2]))]
    plans = [("beginnings-ends", "gap", parts[0], last[redraw(said.labels[last], 1500, np.random.default_rng([245, 3]))]), ("shares", "label-shift", *shares)]
    for seed, (name, group, *rows) in enumerate(plans, 1):
        yield Task(name, group, seed, *texts.directions(*(common_words(said.take(part)) for part in rows), ngram_range=(1, 1)))


SUBJECTS = ["computers", "food", "law", "love", "men-women", "politics", "science", "songs-poems", "startrek", "zippy"]


def sayings():
    """Short sayings and long ones in 64 principal directions of their words; what they are about is the class."""
    found, labels = [], []
    for subject in SUBJECTS:
        with open("/usr/share/games/fortunes/" + subject, encoding="utf-8", errors="replace") as f:
            said = [" ".join(text.split()) for text in f.read().split("\n%\n")]
        found += [text for text in said if len(text) > 20]
        labels += [subject] * sum(len(text) > 20 for text in said)
    said, length = Domain(np.array(found, object), np.array(labels)), np.array(list(map(len, found)))
    short = length < np.median(length)
    parts = (society.evenly(said.take(np.flatnonzero(part)), 200, 247, i) for i, part in enumerate((~short, short)))
    yield Task("long-short", "gap", 1, *texts.directions(*parts, ngram_range=(1, 1), stop_words="english"))


GROUPS = {"Animals & Nature": "nature", "Food & Drink": "food", "Objects": "objects", "People & Body": "people", "Smileys & Emotion": "smileys", "Symbols": "symbols", "Travel & Places": "travel"}


def pictures(maker):
    """Emoji as 8 × 8 pixels of three colours on white, from a sheet of 16 × 16 with a margin of one."""
    folder = npm.unpacked("emoji-datasource-" + maker, lambda path: path in ("package/emoji.json", f"package/img/{maker}/sheets/16.png"))
    with Image.open(folder / f"img/{maker}/sheets/16.png") as opened:
        sheet = opened.convert("RGBA")
    white, values, labels = Image.new("RGBA", (16, 16), "white"), [], []
    for one in json.loads((folder / "emoji.json").read_text()):
        if one["category"] in GROUPS and one["has_img_google"] and one["has_img_twitter"]:
            x, y = 18 * one["sheet_x"] + 1, 18 * one["sheet_y"] + 1
            picture = Image.alpha_composite(white, sheet.crop((x, y, x + 16, y + 16))).convert("RGB").resize((8, 8), Image.BOX)
            values.append(np.asarray(picture, np.float32).ravel() / 255)
            labels.append(GROUPS[one["category"]])
    return Domain(np.stack(values), np.array(labels))


def emoji():
    """Emoji by two makers; what they are is the class. No emoji is in both domains."""
    google, twitter = pictures("google"), pictures("twitter")
    for seed, (name, source, target) in enumerate([("google-twitter", google, twitter), ("twitter-google", twitter, google)], 1):
        parts = halves(len(google), np.random.default_rng([248, seed]))
        yield Task(name, "gap", seed, source.take(parts[0]), target.take(parts[1]))
    parts = by_class(twitter.labels, (0.7, 0.3, 0.5, 0.4, 0.6), np.random.default_rng([248, 3]))
    yield Task("twitter-shares", "label-shift", 3, *map(twitter.take, parts))


def spoken(*languages):
    """Syllables of one vowel, or that end with it, as bands of sound in four moments; the vowel is the class."""
    values, labels = [], []
    for language in languages:
        for path in sorted(glob.glob(f"/usr/share/klettres/{language}/syllab/*.ogg")):
            vowels = re.findall("[aeiou]", os.path.basename(path).split(".")[0])
            if len(vowels) == 1:
                wave, rate = soundfile.read(path, always_2d=True)
                values.append(sounds.sound(wave.mean(axis=1), rate, high=8000))
                labels.append(vowels[0])
    return Domain(np.stack(values), np.array(labels))


def syllables():
    """Syllables, spoken by one person a language; which of five vowels they have is the class."""
    yield Task("languages", "gap", 1, spoken("es", "pt_BR", "lt", "tn"), spoken("it", "ru", "uk"))
