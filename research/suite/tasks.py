"""Writes the suite's tasks and their manifest.

usage: tasks.py [--half NAME] [--only KIND] [--again] [--out build/suite]
Each task becomes OUT/tasks/KIND/NAME with source and target as `iwrun adapt` reads them, the
target without labels, and OUT/truth/KIND/NAME.npy, its classes' names, which run.py alone reads.
What is written is described in research/suite/tasks.json, a line a task. Kinds that are there
already are left as they are, since packages that were installed meanwhile would change them;
--again writes them anew.
"""
import argparse
import csv
import hashlib
import json
import pathlib
import re
import time

import numpy as np

from kinds import (chosen, civic, culture, curves, digits, fields, files, fonts, generated, health, herds, households, living, makers, marks, matter, measured, moved, nature, noted, owned, packages, panels, patients, people, plain, play, public, records, redrawn, rows,
                   shapes, signs, sky, society, sounds, systems, tables, things, traces, trades, units, words, world, written)

# The deal: what makes a kind's tasks, and the half of the suite that they are in.
KINDS = {
    "pixels": (digits.pixels, "choosing"),
    "collection": (digits.collection, "choosing"),
    "strokes": (digits.strokes, "choosing"),
    "cancer": (tables.cancer, "choosing"),
    "plants": (tables.plants, "choosing"),
    "packages": (packages.package_table, "choosing"),
    "bytes": (files.of_bytes, "choosing"),
    "generated": (generated.generated, "choosing"),
    "gradients": (digits.gradients, "judging"),
    "distorted": (digits.distorted, "judging"),
    "lenet": (digits.lenet, "judging"),
    "characters": (world.characters, "judging"),
    "zones": (world.zones, "judging"),
    "diabetes": (tables.diabetes, "judging"),
    "manuals": (files.manuals, "judging"),
    "descriptions": (packages.descriptions, "judging"),
    "code": (files.code, "judging"),
    "fonts": (fonts.fonts, "judging"),
    "credit": (people.credit, "fresh"),
    "relapse": (people.relapse, "fresh"),
    "workers": (people.workers, "fresh"),
    "voters": (people.voters, "fresh"),
    "developers": (people.developers, "fresh"),
    "houses": (people.houses, "fresh"),
    "animals": (nature.animals, "fresh"),
    "satellite": (nature.satellite, "fresh"),
    "vowels": (nature.vowels, "fresh"),
    "vehicles": (nature.vehicles, "fresh"),
    "olives": (nature.olives, "fresh"),
    "soybeans": (nature.soybeans, "fresh"),
    "stars": (sky.stars, "fresh"),
    "deepsky": (sky.deepsky, "fresh"),
    "asteroids": (sky.asteroids, "fresh"),
    "spam": (measured.spam, "fresh"),
    "splice": (measured.splice, "fresh"),
    "cells": (measured.cells, "fresh"),
    "spectra": (measured.spectra, "fresh"),
    "echoes": (measured.echoes, "fresh"),
    "molecules": (measured.molecules, "fresh"),
    "tweets": (words.tweets, "fresh"),
    "drums": (sounds.drums, "fresh"),
    "instruments": (sounds.instruments, "fresh"),
    "languages": (words.languages, "fresh"),
    "passengers": (society.passengers, "final"),
    "subscribers": (society.subscribers, "final"),
    "employees": (society.employees, "final"),
    "schools": (society.schools, "final"),
    "women": (society.women, "final"),
    "answers": (society.answers, "final"),
    "companies": (society.companies, "final"),
    "jobs": (society.jobs, "final"),
    "cars": (society.cars, "final"),
    "weather": (matter.weather, "final"),
    "storms": (matter.storms, "final"),
    "quakes": (matter.quakes, "final"),
    "isotopes": (matter.isotopes, "final"),
    "glass": (matter.glass, "final"),
    "concrete": (matter.concrete, "final"),
    "thyroid": (matter.thyroid, "final"),
    "movies": (culture.movies, "final"),
    "names": (culture.names, "final"),
    "novels": (culture.novels, "final"),
    "sayings": (culture.sayings, "final"),
    "emoji": (culture.emoji, "final"),
    "syllables": (culture.syllables, "final"),
    "infections": (health.infections, "fifth"),
    "epidemic": (health.epidemic, "fifth"),
    "livers": (health.livers, "fifth"),
    "mothers": (health.mothers, "fifth"),
    "proteins": (health.proteins, "fifth"),
    "countries": (public.countries, "fifth"),
    "arrests": (public.arrests, "fifth"),
    "stops": (public.stops, "fifth"),
    "homes": (public.homes, "fifth"),
    "pupils": (public.pupils, "fifth"),
    "moods": (public.moods, "fifth"),
    "journeys": (public.journeys, "fifth"),
    "trains": (public.trains, "fifth"),
    "articles": (public.articles, "fifth"),
    "hair": (public.hair, "fifth"),
    "diamonds": (things.diamonds, "fifth"),
    "banknotes": (things.banknotes, "fifth"),
    "solder": (things.solder, "fifth"),
    "fuels": (things.fuels, "fifth"),
    "computers": (things.computers, "fifth"),
    "radiators": (things.radiators, "fifth"),
    "birds": (things.birds, "fifth"),
    "ticks": (things.ticks, "fifth"),
    "banks": (things.banks, "fifth"),
    "chamois": (living.chamois, "sixth"),
    "fish": (living.fish, "sixth"),
    "bacteria": (living.bacteria, "sixth"),
    "leaves": (living.leaves, "sixth"),
    "melons": (living.melons, "sixth"),
    "fires": (living.fires, "sixth"),
    "ocean": (living.ocean, "sixth"),
    "clouds": (living.clouds, "sixth"),
    "hearts": (patients.hearts, "sixth"),
    "horses": (patients.horses, "sixth"),
    "sugar": (patients.sugar, "sixth"),
    "elders": (patients.elders, "sixth"),
    "kidneys": (patients.kidneys, "sixth"),
    "retinas": (patients.retinas, "sixth"),
    "eyes": (patients.eyes, "sixth"),
    "spines": (patients.spines, "sixth"),
    "signals": (patients.signals, "sixth"),
    "donors": (patients.donors, "sixth"),
    "poisoned": (patients.poisoned, "sixth"),
    "bodies": (patients.bodies, "sixth"),
    "growth": (patients.growth, "sixth"),
    "drivers": (civic.drivers, "sixth"),
    "professors": (civic.professors, "sixth"),
    "refugees": (civic.refugees, "sixth"),
    "students": (civic.students, "sixth"),
    "tracks": (civic.tracks, "sixth"),
    "clerks": (civic.clerks, "sixth"),
    "fathers": (civic.fathers, "sixth"),
    "beginners": (civic.beginners, "sixth"),
    "tests": (civic.tests, "sixth"),
    "communes": (civic.communes, "sixth"),
    "ballots": (civic.ballots, "sixth"),
    "sectors": (civic.sectors, "sixth"),
    "roles": (civic.roles, "sixth"),
    "opinions": (civic.opinions, "sixth"),
    "mortgages": (civic.mortgages, "sixth"),
    "insured": (civic.insured, "sixth"),
    "wellbeing": (civic.wellbeing, "sixth"),
    "polls": (civic.polls, "sixth"),
    "wealth": (civic.wealth, "sixth"),
    "aircraft": (trades.aircraft, "sixth"),
    "baseball": (trades.baseball, "sixth"),
    "athletes": (trades.athletes, "sixth"),
    "uploads": (systems.uploads, "seventh"),
    "tags": (systems.tags, "seventh"),
    "terminals": (systems.terminals, "seventh"),
    "tablets": (systems.tablets, "seventh"),
    "locales": (systems.locales, "seventh"),
    "media": (systems.media, "seventh"),
    "runtime": (systems.runtime, "seventh"),
    "sources": (systems.sources, "seventh"),
    "licences": (systems.licences, "seventh"),
    "kernels": (systems.kernels, "seventh"),
    "satellites": (play.satellites, "seventh"),
    "monsters": (play.monsters, "seventh"),
    "ships": (play.ships, "seventh"),
    "openings": (play.openings, "seventh"),
    "features": (play.features, "seventh"),
    "colours": (play.colours, "seventh"),
    "works": (records.works, "seventh"),
    "checks": (records.checks, "seventh"),
    "visits": (records.visits, "seventh"),
    "carriers": (records.carriers, "seventh"),
    "rice": (records.rice, "seventh"),
    "parties": (records.parties, "seventh"),
    "aggression": (records.aggression, "seventh"),
    "customers": (records.customers, "seventh"),
    "graduates": (records.graduates, "seventh"),
    "counties": (records.counties, "seventh"),
    "forests": (records.forests, "seventh"),
    "election": (records.election, "seventh"),
    "loans": (records.loans, "seventh"),
    "sales": (records.sales, "seventh"),
    "parts": (signs.parts, "seventh"),
    "mails": (signs.mails, "seventh"),
    "hooks": (signs.hooks, "seventh"),
    "prompts": (signs.prompts, "seventh"),
    "icons": (signs.icons, "seventh"),
    "tiles": (signs.tiles, "seventh"),
    "glosses": (signs.glosses, "seventh"),
    "inhibitors": (signs.inhibitors, "seventh"),
    "resistance": (signs.resistance, "seventh"),
    "grants": (signs.grants, "seventh"),
    "noise": (makers.noise, "eighth"),
    "balances": (makers.balances, "eighth"),
    "lenses": (makers.lenses, "eighth"),
    "printers": (makers.printers, "eighth"),
    "fingerprints": (makers.fingerprints, "eighth"),
    "attributes": (makers.attributes, "eighth"),
    "footprints": (makers.footprints, "eighth"),
    "symbols": (makers.symbols, "eighth"),
    "rules": (makers.rules, "eighth"),
    "keys": (makers.keys, "eighth"),
    "players": (makers.players, "eighth"),
    "cartridges": (makers.cartridges, "eighth"),
    "items": (makers.items, "eighth"),
    "recipes": (makers.recipes, "eighth"),
    "creatures": (makers.creatures, "eighth"),
    "atoms": (makers.atoms, "eighth"),
    "shells": (makers.shells, "eighth"),
    "changes": (makers.changes, "eighth"),
    "kanji": (makers.kanji, "eighth"),
    "holidays": (makers.holidays, "eighth"),
    "headaches": (panels.headaches, "eighth"),
    "children": (panels.children, "eighth"),
    "waiting": (panels.waiting, "eighth"),
    "careers": (panels.careers, "eighth"),
    "crimes": (panels.crimes, "eighth"),
    "paths": (panels.paths, "eighth"),
    "collisions": (panels.collisions, "eighth"),
    "wines": (panels.wines, "eighth"),
    "rides": (panels.rides, "eighth"),
    "injections": (panels.injections, "eighth"),
    "writing": (shapes.writing, "eighth"),
    "places": (shapes.places, "eighth"),
    "beats": (shapes.beats, "eighth"),
    "viruses": (shapes.viruses, "eighth"),
    "terms": (shapes.terms, "eighth"),
    "cattle": (shapes.cattle, "eighth"),
    "servers": (shapes.servers, "eighth"),
    "lands": (shapes.lands, "eighth"),
    "mayonnaise": (shapes.mayonnaise, "eighth"),
    "soils": (shapes.soils, "eighth"),
    "shots": (units.shots, "ninth"),
    "patents": (units.patents, "ninth"),
    "carrots": (units.carrots, "ninth"),
    "access": (units.access, "ninth"),
    "recall": (units.recall, "ninth"),
    "craters": (units.craters, "ninth"),
    "doses": (units.doses, "ninth"),
    "anaesthesia": (units.anaesthesia, "ninth"),
    "teachers": (units.teachers, "ninth"),
    "classrooms": (units.classrooms, "ninth"),
    "germans": (units.germans, "ninth"),
    "weapons": (units.weapons, "ninth"),
    "letters": (rows.letters, "ninth"),
    "values": (rows.values, "ninth"),
    "doctors": (rows.doctors, "ninth"),
    "nations": (rows.nations, "ninth"),
    "cover": (rows.cover, "ninth"),
    "examinees": (rows.examinees, "ninth"),
    "attacks": (rows.attacks, "ninth"),
    "canadians": (rows.canadians, "ninth"),
    "europeans": (rows.europeans, "ninth"),
    "addicts": (rows.addicts, "ninth"),
    "prisoners": (rows.prisoners, "ninth"),
    "satisfaction": (rows.satisfaction, "ninth"),
    "presets": (marks.presets, "ninth"),
    "genders": (marks.genders, "ninth"),
    "vendors": (marks.vendors, "ninth"),
    "genes": (marks.genes, "ninth"),
    "peoples": (marks.peoples, "ninth"),
    "remedies": (marks.remedies, "ninth"),
    "fighters": (marks.fighters, "ninth"),
    "offsets": (owned.offsets, "tenth"),
    "remotes": (owned.remotes, "tenth"),
    "transponders": (owned.transponders, "tenth"),
    "vessels": (owned.vessels, "tenth"),
    "campuses": (owned.campuses, "tenth"),
    "schoolmates": (owned.schoolmates, "tenth"),
    "belts": (owned.belts, "tenth"),
    "streams": (owned.streams, "tenth"),
    "radon": (owned.radon, "tenth"),
    "statures": (written.statures, "tenth"),
    "listed": (written.listed, "tenth"),
    "budgets": (written.budgets, "tenth"),
    "components": (written.components, "tenth"),
    "borrowers": (written.borrowers, "tenth"),
    "leisure": (written.leisure, "tenth"),
    "foetuses": (written.foetuses, "tenth"),
    "diminutives": (written.diminutives, "tenth"),
    "listings": (written.listings, "tenth"),
    "pulp": (written.pulp, "tenth"),
    "stemcells": (written.stemcells, "tenth"),
    "rocks": (written.rocks, "tenth"),
    "roads": (written.roads, "tenth"),
    "mexicans": (written.mexicans, "tenth"),
    "carers": (written.carers, "tenth"),
    "tea": (written.tea, "tenth"),
    "clothes": (curves.clothes, "tenth"),
    "news": (curves.news, "tenth"),
    "movements": (curves.movements, "tenth"),
    "tissues": (curves.tissues, "tenth"),
    "phonemes": (curves.phonemes, "tenth"),
    "readings": (curves.readings, "tenth"),
    "scales": (curves.scales, "tenth"),
    "warblers": (curves.warblers, "tenth"),
    "myoblasts": (curves.myoblasts, "tenth"),
    "pigs": (herds.pigs, "eleventh"),
    "chemists": (herds.chemists, "eleventh"),
    "soups": (herds.soups, "eleventh"),
    "boards": (herds.boards, "eleventh"),
    "owls": (herds.owls, "eleventh"),
    "soldiers": (herds.soldiers, "eleventh"),
    "londoners": (herds.londoners, "eleventh"),
    "cirrhosis": (herds.cirrhosis, "eleventh"),
    "lymphocytes": (herds.lymphocytes, "eleventh"),
    "rails": (plain.rails, "eleventh"),
    "trips": (plain.trips, "eleventh"),
    "metro": (plain.metro, "eleventh"),
    "scholars": (plain.scholars, "eleventh"),
    "caravans": (plain.caravans, "eleventh"),
    "venereal": (plain.venereal, "eleventh"),
    "smokers": (plain.smokers, "eleventh"),
    "isotypes": (plain.isotypes, "eleventh"),
    "hollanders": (plain.hollanders, "eleventh"),
    "justices": (plain.justices, "eleventh"),
    "landslides": (plain.landslides, "eleventh"),
    "breasts": (plain.breasts, "eleventh"),
    "apoplexies": (plain.apoplexies, "eleventh"),
    "twins": (plain.twins, "eleventh"),
    "regions": (plain.regions, "eleventh"),
    "myelomas": (plain.myelomas, "eleventh"),
    "apes": (traces.apes, "eleventh"),
    "speech": (traces.speech, "eleventh"),
    "leukaemias": (traces.leukaemias, "eleventh"),
    "addresses": (traces.addresses, "eleventh"),
    "days": (traces.days, "eleventh"),
    "reviews": (traces.reviews, "eleventh"),
    "cats": (traces.cats, "eleventh"),
    "guts": (traces.guts, "eleventh"),
    "baskets": (traces.baskets, "eleventh"),
    "workmen": (households.workmen, "twelfth"),
    "primaries": (households.primaries, "twelfth"),
    "troops": (households.troops, "twelfth"),
    "firms": (households.firms, "twelfth"),
    "austrians": (households.austrians, "twelfth"),
    "seizures": (households.seizures, "twelfth"),
    "enterprises": (households.enterprises, "twelfth"),
    "colleges": (chosen.colleges, "twelfth"),
    "earners": (chosen.earners, "twelfth"),
    "newborns": (chosen.newborns, "twelfth"),
    "dwellings": (chosen.dwellings, "twelfth"),
    "grafts": (chosen.grafts, "twelfth"),
    "families": (chosen.families, "twelfth"),
    "degrees": (chosen.degrees, "twelfth"),
    "olympians": (chosen.olympians, "twelfth"),
    "lamps": (chosen.lamps, "twelfth"),
    "vocabulary": (chosen.vocabulary, "twelfth"),
    "gammopathies": (chosen.gammopathies, "twelfth"),
    "wards": (chosen.wards, "twelfth"),
    "fevers": (noted.fevers, "twelfth"),
    "circuits": (noted.circuits, "twelfth"),
    "mushrooms": (noted.mushrooms, "twelfth"),
    "coupes": (noted.coupes, "twelfth"),
    "wives": (noted.wives, "twelfth"),
    "cards": (noted.cards, "twelfth"),
    "microbes": (fields.microbes, "twelfth"),
    "chapters": (fields.chapters, "twelfth"),
    "embryos": (fields.embryos, "twelfth"),
    "glyphs": (fields.glyphs, "twelfth"),
    "speechparts": (fields.speechparts, "twelfth"),
    "relatives": (fields.relatives, "twelfth"),
    "heats": (fields.heats, "twelfth"),
    "frames": (moved.frames, "thirteenth"),
    "infants": (moved.infants, "thirteenth"),
    "elderly": (moved.elderly, "thirteenth"),
    "tumours": (moved.tumours, "thirteenth"),
    "timings": (moved.timings, "thirteenth"),
    "tumblers": (moved.tumblers, "thirteenth"),
    "stereotypes": (moved.stereotypes, "thirteenth"),
    "scorers": (moved.scorers, "thirteenth"),
    "trawls": (moved.trawls, "thirteenth"),
    "fulmars": (moved.fulmars, "thirteenth"),
    "rainfall": (moved.rainfall, "thirteenth"),
    "detergents": (moved.detergents, "thirteenth"),
    "busmen": (moved.busmen, "thirteenth"),
    "residues": (moved.residues, "thirteenth"),
    "brothers": (moved.brothers, "thirteenth"),
    "minnesotans": (moved.minnesotans, "thirteenth"),
    "quizzes": (moved.quizzes, "thirteenth"),
    "inventory": (moved.inventory, "thirteenth"),
    "guests": (moved.guests, "thirteenth"),
    "gratitude": (moved.gratitude, "thirteenth"),
    "redrawn": (redrawn.redrawn, "redrawn"),
}
HALVES = ["choosing", "judging", "fresh", "final", "fifth", "sixth", "redrawn", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth"]  # each judges after the one before it was looked at
GROUPS = ["none", "label-shift", "covariate", "gap"]
MANIFEST = pathlib.Path(__file__).with_name("tasks.json")


def is_table(domain):
    return isinstance(domain.values, dict)


def write_domain(folder, name, domain, labelled):
    """A table as CSV, anything else as .npz."""
    if not is_table(domain):
        path = folder / (name + ".npz")
        classes = np.unique(domain.labels)
        labels = {"labels": np.searchsorted(classes, domain.labels), "class_names": classes} if labelled else {}
        np.savez(path, features=domain.values.astype(np.float32), **labels)
        return
    path = folder / (name + ".csv")
    texts = {column: [v if isinstance(v, str) else "" if np.isnan(v) else f"{v:.7g}" for v in values] for column, values in domain.values.items()}
    if labelled:
        texts["label"] = list(domain.labels)
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(texts)
        writer.writerows(zip(*texts.values()))


def check(kind, task):
    classes, counts = np.unique(task.source.labels, return_counts=True)
    assert task.group in GROUPS, (kind, task.name, task.group)
    assert counts.min() >= 3 and len(task.target) >= 10, (kind, task.name, counts, len(task.target))
    assert set(task.target.labels) <= set(classes), (kind, task.name, set(task.target.labels) - set(classes))


def write(out, kind, half, task):
    """Writes a task and returns its line of the manifest."""
    check(kind, task)
    folder, truth = out / "tasks" / kind / task.name, out / "truth" / kind / (task.name + ".npy")
    for path in (folder, truth.parent):
        path.mkdir(parents=True, exist_ok=True)
    np.save(truth, task.target.labels.astype(str))
    write_domain(folder, "source", task.source, labelled=True)
    write_domain(folder, "target", task.target, labelled=False)
    values = task.source.values
    words = sum(column.dtype == object or column.dtype.kind == "U" for column in values.values()) if is_table(task.source) else 0
    return {
        "kind": kind, "name": task.name, "half": half, "group": task.group, "table": is_table(task.source), "source_rows": len(task.source), "target_rows": len(task.target),
        "columns": len(values) if is_table(task.source) else values.shape[1], "words": words, "classes": len(np.unique(task.source.labels)), "seed": task.seed,
        "digest": digest(task),
    }


def digest(task):
    """Twelve digits that differ where rows, classes or values do; not by what rounding does to principal directions."""
    said = hashlib.sha256()
    for domain in (task.source, task.target):
        columns = domain.values.values() if is_table(domain) else [domain.values.mean(axis=0).round(3) + 0.0]
        for column in [*columns, domain.labels]:
            said.update(repr(list(column)).encode())
    return said.hexdigest()[:12]


def plain(name):
    """A class's name without the apostrophe that keeps a spreadsheet from taking it for a formula (python/iwda/_data.py)."""
    return re.sub(r"^'(?='*[=+\-@\t\r])", "", name)


def predicted_classes(path):
    """Those of a file of predictions by `iwrun`; former versions called the column otherwise."""
    with open(path, newline="", encoding="utf-8") as f:
        return np.array([plain(row.get("predicted_class", row.get("class"))) for row in csv.DictReader(f)])


def manifest():
    return json.loads(MANIFEST.read_text()) if MANIFEST.exists() else []


def write_manifest(lines):
    order = {kind: i for i, kind in enumerate(KINDS)}
    lines = sorted((line for line in lines if line["kind"] in order), key=lambda line: (order[line["kind"]], line["seed"], line["name"]))
    MANIFEST.write_text("[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--only", metavar="KIND")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/suite"))
    arguments = parser.parse_args()
    for kind, (make, half) in KINDS.items():
        there = [(arguments.out / "truth" / kind / (line["name"] + ".npy")).exists() for line in manifest() if line["kind"] == kind]
        if arguments.half in (None, half) and arguments.only in (None, kind) and (arguments.again or not there or not all(there)):
            start = time.time()
            lines = [write(arguments.out, kind, half, task) for task in make()]
            write_manifest([line for line in manifest() if line["kind"] != kind] + lines)
            print(f"{kind}: {len(lines)} tasks, {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
