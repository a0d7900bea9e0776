"""Tables in which rows belong together, with one or two columns that say to whom (pigs, chemists, soups, boards, owls) and without (soldiers, londoners, cirrhosis, lymphocytes): data of R's packages."""
import numpy as np

from kinds import deb, r, tables, units


def pigs():
    """Pigs from the fourth week on by their first weight, copper and vitamin, with a column for the pig and one for the litter; how heavy they are for their week is the class, in three."""
    columns = deb.frame("geepack", "dietox")
    label = np.empty(len(columns["Time"]), object)
    for week in np.unique(columns["Time"]):
        rows = columns["Time"] == week
        label[rows] = tables.cut(columns["Weight"][rows], ["light", "middle", "heavy"])
    domain = r.domain(columns, label, ["Weight", "Feed"], rows=columns["Time"] >= 4)
    return [units.by_chance(domain, domain.values["Litter"].astype(int), 1101)]


def chemists():
    """Students of chemistry by sex, age and what they had reached before, at most forty of each of forty authorities, with a column for the authority and one for the school; how they did is the class, in three."""
    columns = r.frame("mlmRev", "Chem97")
    lea = columns["lea"].astype(int)
    domain = r.domain(columns, tables.cut(columns["score"], ["low", "middle", "high"]), ["score", "gcsecnt", "student"])
    random = np.random.default_rng([1103, 0])
    chosen = random.permutation(np.unique(lea))[:40]
    rows = np.concatenate([random.permutation(np.flatnonzero(lea == one))[:40] for one in chosen])
    return [units.apart("shares", domain.take(rows), lea[rows], (0.6, 0.4, 0.5), 1103)]


def soups():
    """People who tasted soups by age, how often they eat some, and how sure they were, with a column that numbers them; whether it was the soup they knew is the class."""
    columns = deb.frame("ordinal", "soup")
    domain = r.domain(columns, "PROD", ["PRODID"])
    return [units.by_chance(*units.even(domain, domain.values["RESP"].astype(int), 620, 1104), 1104)]


def boards():
    """Companies' years by returns, debts, employees and directors, with a column for the company's number and one for its name; how many directors are women is the class, in three."""
    columns = deb.frame("multilevel", "paneldat")
    label = np.select([columns["femaledirsprop"] < 0.01, columns["femaledirsprop"] < 0.18], ["none", "few"], "many")
    domain = r.domain(columns, label, ["femaledirsprop"])
    return [units.apart("shares", domain, columns["companyid"].astype(int), (0.6, 0.5, 0.4), 1107)]


def owls():
    """Young owls by how they call and when a parent comes, with a column for the nest; whether they had been fed is the class."""
    columns = deb.frame("glmmTMB", "Owls")
    return [units.apart("shares", r.domain(columns, "FoodTreatment"), columns["Nest"].astype(str), (0.6, 0.4), 1105)]


def soldiers():
    """American soldiers by hours, leaders and how close their company is, of each and of the company, without a column for the company; how well they feel is the class, in three."""
    columns = deb.frame("multilevel", "bh1996")
    names = ["COHES", "G.COHES", "LEAD", "G.LEAD", "HRS", "G.HRS"]
    domain = r.domain({name: columns[name] for name in names}, tables.cut(columns["WBEING"], ["low", "middle", "high"]))
    return [units.apart("shares", *units.even(domain, columns["GRP"].astype(int), 500, 1109), (0.6, 0.4, 0.5), 1109)]


def londoners():
    """Pupils of London by sex and a test of reading, and by what their school is like, without the school; how well they did at sixteen is the class, in three."""
    columns = deb.frame("jomo", "ExamScores")
    known = ~np.isnan(columns["normexam"])
    label = np.where(known, tables.cut(np.where(known, columns["normexam"], 0), ["low", "middle", "high"]), "")
    names = ["standlrt", "sex", "schgend", "avslrt", "schav", "vrband"]
    rows = np.flatnonzero(known)
    domain = r.domain({name: columns[name][rows] for name in names}, label[rows])
    return [units.by_chance(*units.even(domain, columns["school"][rows].astype(int), 480, 1110), 1110)]


def cirrhosis():
    """Patients with a cirrhosis at visits by sex, age and a protein of the blood, without the patient; whether they got a hormone is the class."""
    columns = deb.frame("timereg", "csl")
    domain = r.domain(columns, np.where(columns["treat"] == 1, "hormone", "none"), ["id", "treat", "lt", "rt", "eventT"])
    return [units.apart("shares", *units.even(domain, columns["id"].astype(int), 700, 1111), (0.6, 0.4), 1111)]


def lymphocytes():
    """Men with HIV at visits by age, smoking and what was counted before, without the man; how many cells are counted is the class, in three."""
    columns = deb.frame("timereg", "cd4")
    domain = r.domain(columns, tables.cut(columns["cd4"], ["low", "middle", "high"]), ["obs", "id", "cd4", "lt", "rt", "cd4.prev"])
    return [units.by_chance(*units.even(domain, columns["id"].astype(int), 420, 1112), 1112)]
