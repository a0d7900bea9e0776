"""Tables of patients and bodies: hearts, horses, sugar in blood, elders, kidneys, retinas, eyes, spines, signals in cells, donors of blood, a poisoned crowd, bodies, growth."""
import numpy as np

from draws import Task
from kinds import r, society, tables

HEART = ["age", "sex", "pain", "pressure", "cholesterol", "sugar", "ecg", "rate", "angina", "depression", "slope", "vessels", "thallium"]


def hearts():
    """Patients by what was measured of their heart; whether it is ill is the class."""
    columns = r.frame("ddalpha", "heart")
    said = {name: columns[f"X{i}"] for i, name in enumerate(HEART, 1)}
    for name in ("sex", "pain", "ecg", "thallium"):
        said[name] = r.as_words(name, said[name])
    return tables.tasks(421, r.domain(said, np.where(columns["C"] == 1, "well", "ill")), [("shares", (0.35, 0.7))])


def horses():
    """Horses with a colic, by what was seen of them, much of it missing; whether an operation found a lesion is the class."""
    without = ["surgery", "hospitalID", "outcome", "lesion_type1", "lesion_type2", "lesion_type3", "cp_data", "temp_extreme_ordered", "temp_extreme_num", "mucous_membranes_group"]
    return tables.tasks(422, r.domain(r.frame("VIM", "colic"), "surgical_lesion", without), [("shares", (0.65, 0.35))])


def sugar():
    """Women of the Pima by age, weight, blood and children; whether they have diabetes is the class."""
    parts = [r.frame("MASS", name) for name in ("Pima.tr", "Pima.te")]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return tables.tasks(423, society.evenly(r.domain(columns, "type"), 177, 423, 0), [("age", "age", 3)])


def elders():
    """People above fifty by age and four measures of their blood; whether they died within fourteen years is the class."""
    columns = r.frame("survival", "flchain")
    said = {name: columns[name] for name in ("age", "sex", "kappa", "lambda", "creatinine")}
    domain = society.evenly(r.domain(said, np.where(columns["death"] == 1, "died", "lives")), 900, 424, 0)
    return tables.tasks(424, domain, [("lambda", "lambda", 3)])


def kidneys():
    """Children with a tumour of the kidney, by age, its stage and tissue as two laboratories saw it; whether it came back is the class. A study and the next."""
    columns = r.frame("survival", "nwtco")
    said = {"age": columns["age"], "stage": columns["stage"]} | {name: r.as_words(name, columns[name]) for name in ("instit", "histol")}
    back, fourth = np.where(columns["rel"] == 1, "back", "well"), columns["study"] == 4
    yield Task("third-fourth", "gap", 1, *(society.evenly(r.domain(said, back, rows=rows), 260, 425, i) for i, rows in enumerate((~fourth, fourth))))


def retinas():
    """People with diabetes by its years, sugar, protein and age; how far their retina is damaged is the class, in four. With insulin, and without."""
    columns = r.frame("gss", "wesdr1")
    damage = np.select([columns["ret1"] <= 10, columns["ret1"] <= 31, columns["ret1"] <= 51], ["none", "mild", "moderate"], "severe")
    insulin = columns["insl"] == 1
    parts = [r.domain(columns, damage, ["insl", "ret1", "ret2"], rows) for rows in (insulin, ~insulin)]
    yield Task("insulin-without", "gap", 1, society.evenly(parts[0], 220, 426, 0), parts[1])


def eyes():
    """Eyes by the shape of the nerve's head, as a laser saw the whole and three of its parts; whether they have a glaucoma is the class."""
    columns = r.frame("TH.data", "GlaucomaM")
    said = {name: values for name, values in columns.items() if name[-1] in "gsi" and name != "Class"}
    return tables.tasks(427, r.domain(said, columns["Class"]), [("shares", (0.35, 0.65))])


def spines():
    """People by six angles and lengths of pelvis and spine; whether it is a healthy one is the class."""
    return tables.tasks(428, r.domain(r.frame("ddalpha", "vertebral_column"), "C"), [("same",)])


def signals():
    """Cells by eleven proteins with which they pass on signals; which of nine substances they were given is the class."""
    columns = r.frame("gss", "Sachs")
    substance = np.array([f"substance {group:g}" for group in columns["grp"]])
    return tables.tasks(429, society.evenly(r.domain(columns, substance, ["grp"]), 220, 429, 0), [("shares", (0.7, 0.3, 0.5, 0.4, 0.6))])


def donors():
    """Donors of blood by when and how often they gave; whether they came again is the class."""
    columns = r.frame("ddalpha", "bloodtransfusion")
    domain = society.evenly(r.domain(columns, np.where(columns["C"] == 1, "came", "stayed away"), ["C"]), 178, 430, 0)
    return tables.tasks(430, domain, [("same",)])


def poisoned():
    """People at a day of sports by age, sex and what they ate; whether they fell ill is the class."""
    columns = r.frame("epicalc", "Outbreak")
    ill = sum(columns[name] for name in ("nausea", "vomiting", "abdpain", "diarrhea")) > 0
    said = {name: np.where(columns[name] == 9, np.nan, columns[name]) for name in ("beefcurry", "saltegg", "water")}
    said |= {"eclair": np.where(columns["eclair"] >= 80, np.nan, columns["eclair"]), "age": np.where(columns["age"] == 99, np.nan, columns["age"]), "sex": r.as_words("sex", columns["sex"])}
    return tables.tasks(431, r.domain(said, np.where(ill, "ill", "well")), [("shares", (0.65, 0.35))])


def bodies():
    """People by age and by the height and weight that they say they have; the sex is the class. Two surveys."""
    columns = r.frame("mice", "selfreport")
    said = {"age": columns["age"], "height": columns["hr"], "weight": columns["wr"], "index": columns["br"]}
    other = columns["src"] == "mgg"
    yield Task("one-another", "gap", 1, *(r.domain(said, columns["sex"], rows=rows) for rows in (~other, other)))


def growth():
    """Dutch boys by age, height, weight, head and testes, some of it missing; how far they are to men is the class, in five."""
    return tables.tasks(433, r.domain(r.frame("mice", "boys"), "gen", ["phb", "reg", "bmi"]), [("shares", (0.7, 0.4, 0.5, 0.6, 0.3))])
