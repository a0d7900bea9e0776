"""Tables in which rows belong together, with a column of whole numbers that says to whom (workmen, primaries, troops, firms) and without (austrians, seizures, enterprises): data of R's packages."""
import numpy as np

from kinds import deb, r, tables, units


def some(columns, unit, many, *seed):
    """Rows of so many units, by chance."""
    names = columns[unit]
    return np.isin(names, np.random.default_rng(seed).permutation(np.unique(names))[:many])


def workmen():
    """Years of American men by hours, wages and age, with a column that numbers the man; how many children they have is the class, in three."""
    columns = deb.frame("plm", "LaborSupply")
    label = np.select([columns["kids"] == 0, columns["kids"] < 3], ["none", "few"], "many")
    rows = some(columns, "id", 180, 1201, 0)
    domain = r.domain(columns, label, ["kids"], rows=rows)
    return [units.apart("shares", domain, columns["id"][rows].astype(int), (0.5, 0.4, 0.65), 1201)]


def primaries():
    """Pupils of Scotland by sex, a test of words and their parents' class, with columns for the primary and the secondary school; what they reached is the class, in three."""
    columns = r.frame("mlmRev", "ScotsSec")
    rows = some(columns, "primary", 90, 1202, 0)
    domain = r.domain(columns, tables.cut(columns["attain"], ["low", "middle", "high"]), ["attain"], rows=rows)
    return [units.by_chance(domain, columns["primary"][rows].astype(int), 1202)]


def troops():
    """American soldiers by what they say of their leaders and their task, with a column for the company; how hostile they feel is the class, in three."""
    columns = deb.frame("multilevel", "lq2002")
    names = ["COMPID", *(name for name in columns if name[:-2] in ("LEAD", "TSIG"))]
    domain = r.domain({name: columns[name] for name in names}, tables.cut(columns["HOSTILE"], ["low", "middle", "high"]))
    return [units.apart("shares", domain, columns["COMPID"].astype(int), (0.6, 0.4, 0.5), 1203)]


def firms():
    """British firms' years by employees, wages and capital, with a column that numbers the firm; its branch is the class, in eight."""
    columns = deb.frame("plm", "EmplUK")
    rows = columns["sector"] != 6  # it has five firms
    domain = r.domain(columns, r.as_words("sector", columns["sector"]), ["sector", "output"], rows=rows)
    return [units.by_chance(domain, columns["firm"][rows].astype(int), 1204)]


def austrians():
    """People of Austria by age, sex, region and the income of their household, of which two are there or more, without the household; what they do is the class, in four."""
    columns = r.frame("laeken", "eusilc")
    label = np.select([columns["pl030"] == code for code in (1, 2, 5, 7)], ["full time", "part time", "retired", "at home"], "")
    home, people = columns["db030"].astype(int), label != ""
    people &= np.bincount(home[people], minlength=home.max() + 1)[home] > 1
    rows = some({"home": np.where(people, home, 0)}, "home", 500, 1205, 0) & people
    names = ["hsize", "db040", "age", "rb090", "pb220a", "hy040n", "hy050n", "hy070n", "hy090n", "hy110n", "hy130n", "hy145n", "eqIncome"]
    domain = r.domain({name: columns[name] for name in names}, label, rows=rows)
    return [units.apart("shares", domain, home[rows], (0.6, 0.5, 0.6, 0.4), 1205)]


def seizures():
    """Visits of patients with an epilepsy by age, treatment and how many seizures they had before, without the patient; how many they had is the class, in three."""
    columns = deb.frame("brms", "epilepsy")
    domain = r.domain({name: columns[name] for name in ("Age", "Base", "Trt", "visit")}, tables.cut(columns["count"], ["few", "middle", "many"]))
    return [units.by_chance(domain, columns["patient"].astype(int), 1206)]


def enterprises():
    """Employees of Austria by sex, age, schools and hours, and by their enterprise's branch, place and size, without its number; what they earn in an hour is the class, in three."""
    columns = r.frame("laeken", "ses")
    names = ["location", "NACE1", "size", "economicFinanc", "payAgreement", "sex", "age", "education", "contract", "fullPart", "lengthService", "hoursPaid", "overtimeHours", "holiday"]
    rows = some(columns, "IDunit", 60, 1207, 0)
    label = np.full(len(rows), "", object)
    label[rows] = tables.cut(columns["earningsHour"][rows], ["little", "middle", "much"])
    return [units.apart("shares", r.domain({name: columns[name] for name in names}, label, rows=rows), columns["IDunit"][rows].astype(int), (0.5, 0.6, 0.4), 1207)]
