"""Tables of people and places: insured drivers, professors, refugees, students, tracks of schools, clerks, fathers, beginners at school, tests, communes, ballots, sectors of schools, roles, opinions, mortgages, the insured, wellbeing, polls, wealth."""
import numpy as np

from draws import Task
from kinds import r, society, tables


def drivers():
    """Insured drivers of Belgium in words; whether they had many accidents is the class. Those who speak French, and those who speak Flemish."""
    columns = r.frame("DiscriMiner", "insurance")
    flemish = columns["Language"] == "flemish"
    yield Task("french-flemish", "gap", 1, *(r.domain(columns, "Claims", ["Language"], rows) for rows in (~flemish, flemish)))


def professors():
    """Professors by years, sex and pay; their rank is the class. Theory, and what is applied."""
    columns = r.frame("carData", "Salaries")
    applied = columns["discipline"] == "B"
    yield Task("theory-applied", "gap", 1, *(r.domain(columns, "rank", ["discipline"], rows) for rows in (~applied, applied)))


def refugees():
    """Refugees' appeals by nation, town and what another judge thought; the decision is the class. In English and in French."""
    columns = r.frame("carData", "Greene")
    french = columns["language"] == "French"
    parts = [r.domain(columns, "decision", ["judge", "language"], rows) for rows in (~french, french)]
    yield Task("english-french", "gap", 1, society.evenly(parts[0], 84, 443, 0), parts[1])


def students():
    """Students by hands, pulse, height, habits and age, some of it missing; the sex is the class."""
    return tables.tasks(444, r.domain(r.frame("MASS", "survey"), "Sex"), [("shares", (0.35, 0.65))])


def tracks():
    """German families by income, size, place and the mother's schools; the track of school of their child is the class."""
    domain = r.domain(r.frame("AER", "GSOEP9402"), "school", ["birthyear"])
    return tables.tasks(445, domain, [("income", "income", 3)])


def clerks():
    """Employees of a bank by schooling, sex and minority; their job is the class, in two."""
    columns = r.frame("AER", "BankWages")
    manages = np.where(columns["job"] == "manage", "manages", "serves")
    return tables.tasks(446, society.evenly(r.domain(columns, manages, ["job"]), 170, 446, 0), [("shares", (0.7, 0.4))])


def fathers():
    """Men by schooling, race and their father's occupation; their own is the class."""
    columns = r.frame("survival", "logan")
    domain = r.domain(columns, "occupation", rows=columns["occupation"] != "farm")
    return tables.tasks(447, domain, [("shares", (0.35, 0.6, 0.7, 0.4))])


def beginners():
    """Pupils of first classes by two tests, race, month and their teacher; whether their lunch is free is the class. Suburbs, and the country."""
    columns = r.frame("AER", "STAR")
    names = ["gender", "ethnicity", "stark", "readk", "mathk", "experiencek", "degreek", "ladderk", "tethnicityk"]
    parts = (r.domain({name: columns[name] for name in names}, columns["lunchk"], rows=columns["schoolk"] == place) for place in ("suburban", "rural"))
    yield Task("suburbs-country", "gap", 1, *(society.evenly(part, 450, 448, i) for i, part in enumerate(parts)))


def tests():
    """Australian pupils by reading, homework and what they have at home; how well they do in mathematics is the class, in three. Boys and girls."""
    columns = r.frame("GGally", "australia_PISA2012")
    well = tables.cut(columns["PV1MATH"], ["low", "middle", "high"])
    names = [name for name in columns if not name.startswith("PV") and name not in ("gender", "SENWGT_STU")]
    girls = columns["gender"] == "female"
    parts = (r.domain({name: columns[name] for name in (*names, "PV1READ")}, well, rows=rows) for rows in (~girls, girls))
    yield Task("boys-girls", "gap", 1, *(r.some(part, 1200, 449, i) for i, part in enumerate(parts)))


REGIONS = ["Geneva", "Midland", "Northwest", "Zurich", "East", "Centre", "Ticino"]


def communes():
    """Communes of Switzerland by the use of their land, people and households, as shares; and of Belgium by people and income; the region or province is the class."""
    columns = r.frame("sampling", "swissmunicipalities")
    said = {name: (columns[name] / columns["HApoly"]).round(4) for name in ("Surfacesbois", "Surfacescult", "Alp", "Airbat", "Airind")}
    said |= {name: (columns[name] / columns["POPTOT"]).round(4) for name in ("Pop020", "Pop2040", "Pop65P", "H00P01", "H00P02", "H00P04")}
    said |= {"hectares": columns["HApoly"], "people": columns["POPTOT"]}
    region = np.array(REGIONS)[columns["REG"].astype(int) - 1]
    yield from tables.tasks(450, society.evenly(r.domain(said, region), 320, 450, 0), [("swiss-shares", (0.7, 0.3, 0.5, 0.6))])
    columns = r.frame("sampling", "belgianmunicipalities")
    said = {name: columns[name] for name in ("averageincome", "medianincome", "Tot04")}
    said |= {"growth": (columns["DiffTOT"] / columns["Tot03"]).round(5), "women": (columns["Women04"] / columns["Tot04"]).round(5), "taxed": (columns["Totaltaxation"] / columns["TaxableIncome"]).round(5)}
    province = np.array([f"province {number:g}" for number in columns["Province"]])
    yield from tables.tasks(451, r.domain(said, province), [("belgian-people", "Tot04", 2)])


def ballots():
    """Americans by party, sex, money and how far three candidates are from them; for whom of them they voted is the class."""
    return tables.tasks(452, r.domain(r.frame("pscl", "vote92"), "vote"), [("same",)])


def sectors():
    """Pupils by means, mathematics and their school's means; whether it is a Catholic school is the class."""
    columns = r.frame("mlmRev", "Hsb82")
    domain = r.domain(columns, "sector", ["school", "cses"])
    return tables.tasks(453, r.some(domain, 1600, 453), [("means", "ses", 3)])


def roles():
    """People by how well 34 traits and skills that are said to be men's or women's fit them; the sex is the class."""
    columns = r.frame("psychTools", "GERAS", "GERAS.items")
    sex = np.array(["man", "woman"])[columns["gender"].astype(int) - 1]
    return tables.tasks(454, r.domain(dict(list(columns.items())[:34]), sex), [("shares", (0.65, 0.35))])


def opinions():
    """Americans by what they think and feel about the climate; their party is the class."""
    columns = r.frame("psychTools", "globalWarm")
    party = np.array(["democrat", "independent", "republican"])[columns["partyid"].astype(int) - 1]
    columns["sex"] = r.as_words("sex", columns["sex"])
    return tables.tasks(455, r.domain(columns, party, ["partyid"]), [("age", "age", 3)])


def mortgages():
    """Who asked for a mortgage in Boston; whether it was denied is the class. White people and black people."""
    columns = r.frame("AER", "HMDA")
    black = columns["afam"] == "yes"
    parts = [r.domain(columns, "deny", ["afam", "insurance"], rows) for rows in (~black, black)]
    yield Task("white-black", "gap", 1, society.evenly(parts[0], 189, 456, 0), parts[1])


def insured():
    """Old Americans by visits to doctors, health, means and schools; whether they have an insurance of their own is the class."""
    domain = society.evenly(r.domain(r.frame("AER", "NMES1988"), "insurance", ["medicaid"]), 900, 457, 0)
    return tables.tasks(457, domain, [("school", "school", 2)])


def wellbeing():
    """Americans by age, sex, marriage, school, means and happiness; what they say of their health is the class, in four. Seventies and nineties."""
    columns = r.frame("GGally", "happy")
    said = {name: columns[name] for name in ("happy", "age", "sex", "marital", "degree", "finrela")}
    years = (columns["year"] < 1980, columns["year"] >= 1996)
    parts = (society.evenly(r.domain(said, columns["health"], rows=rows), each, 458, i) for i, (rows, each) in enumerate(zip(years, (350, 300))))
    yield Task("seventies-later", "gap", 1, *parts)


POLLSTERS = ["Ipsos", "Google Consumer Surveys", "SurveyMonkey", "YouGov", "CVOTER International", "Public Policy Polling"]


def polls():
    """Polls before an election by how many were asked and what they said; who asked is the class."""
    columns = r.frame("dslabs", "polls_us_election_2016")
    said = {name: columns[name] for name in ("samplesize", "population", "rawpoll_clinton", "rawpoll_trump", "rawpoll_johnson")}
    domain = r.domain(said, columns["pollster"], rows=np.isin(columns["pollster"], POLLSTERS))
    return tables.tasks(459, society.evenly(domain, 200, 459, 0), [("shares", (0.7, 0.4, 0.6))])


def wealth():
    """Chinese couples by income, age, height, health and happiness; the part of the country is the class."""
    columns = r.frame("HSAUR3", "CHFLS")
    return tables.tasks(460, r.domain(columns, "R_region"), [("shares", (0.4, 0.6, 0.7, 0.5))])
