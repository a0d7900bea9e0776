"""Tables of society: passengers of a ship, subscribers, employees, schools, women at work, answers, companies, jobs of computers."""
import numpy as np

from draws import Domain, Task, at_most, by_class
from kinds import npm, r, tables


def evenly(domain, each, *seed):
    """At most so many rows of every class, by chance."""
    return domain.take(at_most(domain.labels, each, np.random.default_rng(seed)))


def passengers():
    """Passengers of a ship that sank; whether they lived is the class."""
    columns = r.frame("carData", "TitanicSurvival")
    columns = {name.lower(): values for name, values in columns.items() if name}
    domain = r.domain({name: columns[name] for name in ("survived", "sex", "age", "passengerclass")}, "survived")
    yield from tables.tasks(201, domain, [("shares", (0.35, 0.7))])
    third = columns["passengerclass"] == "3rd"
    yield Task("upper-third", "gap", 2, *(r.domain({name: columns[name] for name in ("survived", "sex", "age")}, "survived", rows=rows) for rows in (~third, third)))


def subscribers():
    """Customers of two telephone companies; whether they left is the class."""
    calls = evenly(r.domain(r.frame("modeldata", "mlc_churn"), "churn", ["state"]), 700, 202, 0)
    yield from tables.tasks(202, calls, [("shares", (0.35, 0.65))])
    columns = r.frame("modeldata", "wa_churn")
    copper, fibre = (r.domain(columns, "churn", ["internet_service"], columns["internet_service"] == service) for service in ("DSL", "Fiber optic"))
    yield Task("copper-fibre", "gap", 2, evenly(copper, 450, 203, 0), r.some(fibre, 900, 203, 1))


def employees():
    """Employees of a company, as many who left as stayed; which of both is the class."""
    return tables.tasks(204, evenly(r.domain(r.frame("modeldata", "attrition"), "Attrition"), 237, 204, 0), [("same",)])


def schools():
    """Districts of schools by means, size and money; how well their pupils read is the class, in three."""
    columns = r.frame("AER", "CASchools")
    domain = r.domain(columns, tables.cut(columns["read"], ["low", "middle", "high"]), ["district", "school", "county", "read", "math"])
    return tables.tasks(205, domain, [("shares", (0.7, 0.5, 0.3)), ("income", "income", 3)])


def women():
    """Women in the United States and in Switzerland; whether they work for pay is the class."""
    yield from tables.tasks(206, r.domain(r.frame("carData", "Mroz"), "lfp"), [("age", "age", 2)])
    columns = r.frame("AER", "SwissLabor")
    natives, foreigners = (r.domain(columns, "participation", ["foreign"], columns["foreign"] == foreign) for foreign in ("no", "yes"))
    yield Task("natives-foreigners", "gap", 2, evenly(natives, 250, 206, 2), foreigners)


def answers():
    """Answers to 135 questions on a person's ways; the sex is the class."""
    columns = r.frame("psychTools", "spi")
    questions = [name for name in columns if name.startswith("q_")]

    def some(rows, *seed):
        labels = np.select([columns["sex"] == 1, columns["sex"] == 2], ["man", "woman"], "")
        return r.some(r.array(r.domain({name: columns[name] for name in questions}, labels, rows=rows)), 1000, *seed)

    everybody = some(None, 207)
    yield Task("shares", "label-shift", 1, *(everybody.take(rows) for rows in by_class(everybody.labels, (0.6, 0.35), np.random.default_rng([207, 1]))))
    yield Task("young-old", "gap", 2, some(columns["age"] < 22, 208, 0), some(columns["age"] >= 30, 208, 1))


BRANCHES = ["Banking", "Diversified financials", "Insurance", "Materials", "Oil & gas operations", "Retailing", "Utilities"]


def companies():
    """Large companies by sales, profits, assets and value, in logarithms; the branch is the class."""
    columns = r.frame("HSAUR3", "Forbes2000")
    for name in ("sales", "assets", "marketvalue"):
        columns[name] = np.log10(0.01 + columns[name]).round(4)
    chosen, american = np.isin(columns["category"], BRANCHES), columns["country"] == "United States"

    def domain(rows):
        return r.domain(columns, "category", ["rank", "name", "country"], chosen & rows)

    yield Task("america-others", "gap", 1, domain(american), domain(~american))
    yield from tables.tasks(209, domain(True), [("same",)])


def jobs():
    """Jobs of computers by what they were asked to do and when; how long they took is the class."""
    columns = r.frame("modeldata", "hpc_data")
    domain = r.some(r.domain(columns, "class"), 1500, 210)
    return tables.tasks(210, domain, [("shares", (0.7, 0.4, 0.5, 0.3)), ("fields", "input_fields", 3)])


def cars():
    """Cars of the seventies, where they were made is the class; cars of 1990, their types; cars of 1993, whether made in America."""
    rows = npm.vega("cars.json")
    values = npm.columns(rows, ["Miles_per_Gallon", "Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"])
    origin, year = (np.array([row[name] for row in rows]) for name in ("Origin", "Year"))
    late = year >= "1977"
    yield Task("early-late", "gap", 1, *(Domain(values, origin).take(np.flatnonzero(part)) for part in (~late, late)))
    ninety = r.frame("rpart", "car90")
    yield from tables.tasks(211, r.domain(ninety, "Type", ["Model2", "Tires", "", "Rim"]), [("types-shares", (0.7, 0.4, 0.6))])
    yield from tables.tasks(212, r.domain(r.frame("MASS", "Cars93"), "Origin", ["Manufacturer", "Model", "Make", "Min.Price", "Max.Price"]), [("origins-same",)])
