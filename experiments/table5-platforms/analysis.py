"""Table V: the paper's machines and this one."""
from lab.cells import CANNOT, Section, Table
from lab.data import PAPER


def analyse(data):
    machine, paper = data.machine, PAPER["table5"]
    result = Section(CANNOT, "the machine is another one")
    table = result.add(Table("table5", "Platforms", ["property", *(f"paper: {name}" for name in paper["columns"]), "this machine"]))
    caches = machine.get("caches") or []
    last = max(caches, key=lambda cache: cache["level"], default=None)
    ours = {"CPU": machine.get("cpu"), "cores": str(machine.get("cores")),
            "last shared cache": f"{last['size']}, shared by {last['shared_by']}" if last else "not shown by this system",
            "system": f"{machine.get('distribution') or machine.get('system')}",
            "run time": f"{machine.get('compiler')}"}
    for name, values in paper["rows"].items():
        table.row(name, *(str(value) for value in values), ours[name] or "not shown by this system")
    flags = (machine.get("flags") or {}).get("hpar") or {}
    more = result.add(Table("table5-more", "More about this machine", ["property", "this machine"]))
    for name, value in (("kernel", machine.get("system")), ("memory", f"{(machine.get('memory_bytes') or 0) / 2**30:.1f} GiB"),
                        ("frequency governor", machine.get("governor")), ("huge pages", machine.get("huge_pages")),
                        ("under a hypervisor", "yes" if machine.get("hypervisor") else "no"),
                        ("flags", " ".join(str(flags[key]) for key in sorted(flags) if key.startswith("CMAKE_C_FLAGS") and flags[key]))):
        more.row(name, value or "not shown by this system")
    return result
