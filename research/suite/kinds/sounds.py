"""Sounds of drums and of instruments, from what plays them."""
import functools
import glob
import os
import re
import struct
import xml.etree.ElementTree

import numpy as np
import soundfile

from draws import Domain, Task, by_class

MOMENTS = [0, 0.02, 0.06, 0.15, 0.4]  # seconds between which a sound is looked at


def sound(wave, rate, low=60, high=16000):
    """Logarithms of what 20 bands of a sound hold, between two frequencies in Hz, in four moments after its beginning."""
    wave = wave[np.argmax(np.abs(wave) > 0.05 * np.abs(wave).max()):] / np.abs(wave).max()
    wave = np.pad(wave, (0, max(0, round(MOMENTS[-1] * rate) - len(wave))))
    edges, found = np.geomspace(low, high, 21), []
    for start, end in zip(MOMENTS, MOMENTS[1:]):
        power = np.abs(np.fft.rfft(wave[round(start * rate):round(end * rate)] * np.hanning(round(end * rate) - round(start * rate)), 1 << 15)) ** 2
        place = np.searchsorted(edges, np.fft.rfftfreq(1 << 15, 1 / rate))
        found.append(np.log10(1e-6 + np.bincount(place, power, 22)[1:21] / (end - start) / rate))
    return np.concatenate(found).astype(np.float32)


KITS = "/usr/share/hydrogen/data/drumkits/"
MIXED = ["BJA_Pacific", "ColomboAcousticDrumkit", "The Black Pearl 1.0", "Millo_MultiLayered2", "Millo_MultiLayered3"]
MACHINES = ["ElectricEmpireKit", "HardElectro1", "VariBreaks", "Audiophob", "Millo-Drums_v.1", "rumpf_kit_z01_h2"]
DRUMS = {"kick": r"kick|bass ?drum", "snare": "snare", "tom": r"\btom|tom ", "hat": r"\bhat|hi.?hat|\bhh\b", "cymbal": "crash|ride|splash|china|cymbal"}


@functools.lru_cache(maxsize=None)
def kits(*names):
    """Sounds of kits whose instrument's name says which of five it is."""
    values, labels = [], []
    for kit in names:
        with open(KITS + kit + "/drumkit.xml", encoding="utf-8", errors="replace") as f:
            root = xml.etree.ElementTree.fromstring(re.sub(r' xmlns(:\w+)?="[^"]*"| \w+:\w+="[^"]*"', "", f.read()))
        for instrument in root.iter("instrument"):
            called = [drum for drum, pattern in DRUMS.items() if re.search(pattern, instrument.findtext("name") or "", re.IGNORECASE)]
            paths = sorted({KITS + kit + "/" + one.text for one in instrument.iter("filename") if one.text})
            for path in [path for path in paths if os.path.exists(path)] if len(called) == 1 else []:
                wave, rate = soundfile.read(path, always_2d=True)
                values.append(sound(wave.mean(axis=1), rate))
                labels.append(called[0])
    return Domain(np.stack(values), np.array(labels))


def drums():
    """Five kinds of drums; several recorded kits, another one, and mostly machines."""
    yield Task("recorded-machines", "gap", 1, kits(*MIXED), kits(*MACHINES))
    yield Task("recorded-other", "gap", 2, kits(*MIXED), kits("ForzeeStereo"))
    yield Task("machines-recorded", "gap", 3, kits(*MACHINES), kits(*MIXED))


FAMILIES = {0: "struck", 1: "struck", 3: "plucked", 4: "plucked", 5: "bowed", 6: "bowed", 7: "blown", 8: "blown", 9: "blown"}  # of General MIDI's programs, eight each; organs are left out
PATCHES, SOUNDFONT = "/usr/share/midi/freepats/Tone_000/", "/usr/share/sounds/sf2/TimGM6mb.sf2"


def looped(wave, start, end, rate):
    """A sound as long as is looked at: from its end it goes on at the start of its loop."""
    while len(wave) < MOMENTS[-1] * rate and end - start > 1:
        wave = np.concatenate([wave[:end], np.tile(wave[start:end], 1 + int(MOMENTS[-1] * rate / (end - start)))])
    return wave


def played_at(pitch, wave, rate):
    """A sound's bands from below its pitch to its 24th harmonic."""
    return sound(wave, rate, 0.7 * pitch, 24 * pitch)


def patch(path):
    """Waves, rates and pitches in Hz of a patch of Gravis' sound card; only those of 16 bits."""
    with open(path, "rb") as f:
        content = f.read()
    at = 239
    for _ in range(content[198]):
        size, start, end, rate = struct.unpack_from("<IIIH", content, at + 8)
        pitch = struct.unpack_from("<I", content, at + 30)[0] / 1000
        mode, at = content[at + 55], at + 96 + size
        if mode & 1:
            wave = np.frombuffer(content[at - size:at], "<u2" if mode & 2 else "<i2").astype(np.float64) - (32768 if mode & 2 else 0)
            yield looped(wave, start // 2, end // 2, rate) if mode & 4 else wave, rate, pitch


def chunks(content):
    """What a RIFF file holds by name; each LIST's parts are among it."""
    at, found = 0, {}
    while at + 8 <= len(content):
        name, size = content[at:at + 4], struct.unpack_from("<I", content, at + 4)[0]
        body = content[at + 8:at + 8 + size]
        found |= chunks(body[4:]) if name in (b"RIFF", b"LIST") else {name: body}
        at += 8 + size + size % 2
    return found


@functools.lru_cache(maxsize=None)
def soundfont():
    """Instruments of a SoundFont: samples that programs of just one family play."""
    with open(SOUNDFONT, "rb") as f:
        part = chunks(f.read())
    presets, instruments, samples = (list(struct.iter_unpack(form, part[name])) for form, name in (("<20sHHHIII", b"phdr"), ("<20sH", b"inst"), ("<20sIIIIIBbHH", b"shdr")))
    bags, generators = ({name: list(struct.iter_unpack("<HH", part[name])) for name in names} for names in ((b"pbag", b"ibag"), (b"pgen", b"igen")))

    def said(kind, first, last, what):
        """The values of one generator between two bags."""
        rows = generators[kind + b"gen"][bags[kind + b"bag"][first][0]:bags[kind + b"bag"][last][0]]
        return [value for generator, value in rows if generator == what]

    played = {}
    for (_, program, bank, first, *_), (*_, last, _, _, _) in zip(presets, presets[1:]):
        for one in said(b"p", first, last, 41) if bank == 0 and program // 8 in FAMILIES else []:
            for sample in said(b"i", instruments[one][1], instruments[one + 1][1], 53):
                played.setdefault(sample, set()).add(FAMILIES[program // 8])
    values, labels, waves = [], [], np.frombuffer(part[b"smpl"], "<i2").astype(np.float64)
    for sample, families in sorted(played.items()):
        _, start, end, loop, loop_end, rate, key, *_ = samples[sample]
        if len(families) == 1 and end > start:
            values.append(played_at(440 * 2 ** ((key - 69) / 12), looped(waves[start:end], loop - start, loop_end - start, rate), rate))
            labels.append(min(families))
    return Domain(np.stack(values), np.array(labels))


@functools.lru_cache(maxsize=None)
def patches():
    found = [(played_at(pitch, wave, rate), FAMILIES[int(os.path.basename(path)[:3]) // 8]) for path in sorted(glob.glob(PATCHES + "0[0-7]*.pat"))
             if int(os.path.basename(path)[:3]) // 8 in FAMILIES for wave, rate, pitch in patch(path)]
    return Domain(np.stack([values for values, _ in found]), np.array([label for _, label in found]))


def instruments():
    """Instruments of two collections of sounds; how they are played is the class."""
    one, other = patches(), soundfont()
    yield Task("patches-soundfont", "gap", 1, one, other)
    yield Task("soundfont-patches", "gap", 2, other, one)
    rows = by_class(other.labels, (0.7, 0.4, 0.3), np.random.default_rng([144, 3]))
    yield Task("soundfont-shares", "label-shift", 3, *(other.take(part) for part in rows))
