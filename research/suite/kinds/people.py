"""Tables of people: borrowers, patients, workers, voters, developers and what houses cost them."""
import numpy as np

from draws import Task
from kinds import r, tables


def credit():
    """Borrowers of a bank; whether they paid is the class. Words and missing values."""
    columns = r.frame("modeldata", "credit_data")
    yield from tables.tasks(101, r.some(r.domain(columns, "Status"), 1200, 101), [("shares", (0.3, 0.75)), ("amount", "Amount", 3)])
    owners = columns["Home"] == "owner"
    parts = [r.some(r.domain(columns, "Status", ["Home"], rows), 700, 102, i) for i, rows in enumerate((owners, ~owners))]
    yield Task("owners-others", "gap", 3, *parts)


SIZES, DAYS = ("<=20", "20-50", ">50"), 3 * 365.25


def relapsed(columns, time, event):
    """Whether the disease was back, or the patient dead, within three years; "" if she was not seen so long."""
    return np.where((columns[event] == 1) & (columns[time] <= DAYS), "back", np.where(columns[time] > DAYS, "well", ""))


def relapse():
    """Patients after an operation, in a hospital of Rotterdam and in a study of German ones."""
    shared = ["age", "meno", "size", "grade", "nodes", "pgr", "er", "hormon"]
    dutch, german = r.frame("survival", "cancer", "rotterdam"), r.frame("survival", "cancer", "gbsg")
    dutch["event"], dutch["time"] = np.maximum(dutch["recur"], dutch["death"]), np.where(dutch["recur"] == 1, dutch["rtime"], dutch["dtime"])
    german["size"] = np.array(SIZES, object)[np.searchsorted([20, 50], german["size"])]
    domains = [r.domain({name: columns[name] for name in shared}, relapsed(columns, *names)) for columns, names in ((dutch, ("time", "event")), (german, ("rfstime", "status")))]
    yield from tables.tasks(103, r.some(domains[0], 1200, 103), [("shares", (0.75, 0.35))])
    yield Task("dutch-german", "gap", 2, r.some(domains[0], 1200, 104), domains[1])


def workers():
    """Occupations of people in two surveys of the United States, of which one went back to the same families."""
    yield from tables.tasks(105, r.domain(r.frame("AER", "CPS1985"), "occupation", ["age"]), [("experience", "experience", 3)])
    columns = r.frame("AER", "PSID7682")
    odd = columns["id"] % 2 == 1
    yield Task("1976-1982", "gap", 2, *(r.domain(columns, "occupation", ["year", "id"], (columns["year"] == year) & rows) for year, rows in ((1976, odd), (1982, ~odd))))


def voters():
    """Parties of members of a parliament by sixteen votes, of Britons by opinions, and the vote of Chileans on their president."""
    house = r.domain(r.frame("mlbench", "HouseVotes84"), "Class", ["V4"])  # nearly all is in that vote
    yield from tables.tasks(106, house, [("house-shares", (0.8, 0.35))])
    yield from tables.tasks(107, r.some(r.domain(r.frame("carData", "BEPS"), "vote"), 1000, 107), [("britain-same",)])
    columns = r.frame("carData", "Chile")
    capital = np.isin(columns["region"], ["SA", "M"])
    parts = [r.some(r.domain(columns, "vote", ["region"], rows), 900, 108, i) for i, rows in enumerate((~capital, capital))]
    yield Task("chile-capital", "gap", 3, *parts)


def developers():
    """Developers of software by pay, experience and work; the country is the class."""
    columns = r.frame("modeldata", "stackoverflow")
    return tables.tasks(109, r.some(r.domain(columns, "Country"), 1500, 109), [("years", "YearsCodedJob", 2)])


ROOMS = ("Lot_Frontage Lot_Area Lot_Shape Neighborhood House_Style Overall_Cond Year_Built Exterior_1st Mas_Vnr_Type Foundation Bsmt_Exposure Total_Bsmt_SF Heating_QC "
         "Central_Air First_Flr_SF Gr_Liv_Area Full_Bath Bedroom_AbvGr TotRms_AbvGrd Fireplaces Garage_Type Garage_Area Wood_Deck_SF Mo_Sold").split()


def houses():
    """Houses of a town; the price in three classes."""
    columns = r.frame("modeldata", "ames")
    prices, alone = tables.cut(columns["Sale_Price"], ["cheap", "middle", "dear"]), columns["Bldg_Type"] == "OneFam"
    columns = {name: columns[name] for name in ROOMS}
    yield from tables.tasks(110, r.some(r.domain(columns, prices), 1000, 110), [("built", "Year_Built", 3)])
    yield Task("alone-shared", "gap", 2, *(r.some(r.domain(columns, prices, rows=rows), 900, 111, i) for i, rows in enumerate((alone, ~alone))))
