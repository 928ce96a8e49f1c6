"""A Bluetooth service without Bluetooth: a template of python-dbusmock, on top of its own one of BlueZ.

It adds what that lacks: advertising, failures, and devices that are heard again and again. What programs ask for is
printed, one line each. `python3 -m dbusmock --template FILE`; the methods of org.bluez.Mock at / are for the test.
"""

import dbus
from dbusmock import OBJECT_MANAGER_IFACE, mockobject
from dbusmock.templates import bluez5

# What a program would call is called on an object; these are added to the one at / as they are.
from dbusmock.templates.bluez5 import AddAdapter, AddDevice, RemoveAdapterWithDevices  # noqa: F401

BUS_NAME = "org.bluez"
MAIN_OBJ = "/"
SYSTEM_BUS = True
IS_OBJECT_MANAGER = True

MOCK = "org.bluez.Mock"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
MANAGER = "org.bluez.LEAdvertisingManager1"
ADVERTISEMENT = "org.bluez.LEAdvertisement1"

# Methods that fail, with the name of their error.
failures = {}
# How often something was said, so that each line differs from those before.
counts = {}
# The sender of the call that is handled; dbusmock does not tell it.
sender = None


def say(*words):
    print(*words, flush=True)


def count(what):
    counts[what] = counts.get(what, 0) + 1
    say(what, counts[what])


def check(method):
    if method in failures:
        raise dbus.exceptions.DBusException("as the test wants it", name=failures[method])


def load(mock, parameters):
    def remember(_bus, message):
        global sender
        sender = message.get_sender()
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED

    mock.connection.add_message_filter(remember)
    bluez5.load(mock, parameters)
    mockobject.objects["/"] = mock  # as dbusmock does it itself, after this
    failures.update(parameters.get("failures", {}))
    if "adapter" in parameters:
        Plug(mock, parameters["adapter"], True, True)
    say("ready")


def set_filter(adapter, wanted):
    check("SetDiscoveryFilter")
    say("filter", *(f"{key}={wanted[key]}" for key in sorted(wanted)))


def start_discovery(adapter):
    check("StartDiscovery")
    adapter.UpdateProperties(ADAPTER, {"Discovering": dbus.Boolean(True)})
    count("listening")


def stop_discovery(adapter):
    adapter.UpdateProperties(ADAPTER, {"Discovering": dbus.Boolean(False)})
    count("deaf")


def register(adapter, path, _options):
    check("RegisterAdvertisement")
    if adapter.advertisement:
        raise dbus.exceptions.DBusException("already", name="org.bluez.Error.AlreadyExists")
    adapter.advertisement = (sender, path)

    def read(properties):
        for uuid, data in properties["ServiceData"].items():
            say("advertising", properties["Type"], uuid, bytes(data).hex())

    # Not waited for: the answer comes to the same thread.
    adapter.connection.call_async(
        sender, path, dbus.PROPERTIES_IFACE, "GetAll", "s", (ADVERTISEMENT,), read, lambda error: say("error", error)
    )


def unregister(adapter, path):
    if adapter.advertisement != (sender, path):
        raise dbus.exceptions.DBusException("none", name="org.bluez.Error.DoesNotExist")
    adapter.advertisement = None
    count("silent")


@dbus.service.method(MOCK, in_signature="sbb")
def Plug(self, name, powered, advertises):
    """An adapter appears."""
    path = AddAdapter(self, name, "a host")
    adapter = mockobject.objects[path]
    adapter.advertisement = None
    adapter.AddMethods(ADAPTER, [
        ("StartDiscovery", "", "", start_discovery),
        ("StopDiscovery", "", "", stop_discovery),
        ("SetDiscoveryFilter", "a{sv}", "", set_filter),
    ])
    if not powered:
        Power(self, name, False)
    if advertises:
        properties = {"SupportedInstances": dbus.Byte(4)}
        adapter.AddProperties(MANAGER, properties)
        adapter.AddMethods(MANAGER, [
            ("RegisterAdvertisement", "oa{sv}", "", register),
            ("UnregisterAdvertisement", "o", "", unregister),
        ])
        mockobject.objects["/"].EmitSignal(
            OBJECT_MANAGER_IFACE, "InterfacesAdded", "oa{sa{sv}}", [dbus.ObjectPath(path), {MANAGER: properties}]
        )


@dbus.service.method(MOCK, in_signature="s")
def Unplug(self, name):
    """An adapter is pulled out."""
    RemoveAdapterWithDevices(self, name)


@dbus.service.method(MOCK, in_signature="sb")
def Power(self, name, on):
    """An adapter is switched on or off; off, it forgets who wanted to listen."""
    mockobject.objects[f"/org/bluez/{name}"].UpdateProperties(ADAPTER, {"Powered": dbus.Boolean(on)})


@dbus.service.method(MOCK, in_signature="ss")
def Fail(self, method, error):
    """A method fails from now on; with an empty error it works again."""
    failures.pop(method, None)
    if error:
        failures[method] = error


@dbus.service.method(MOCK, in_signature="sy")
def Free(self, name, count):
    """Other programs leave slots for advertisements."""
    mockobject.objects[f"/org/bluez/{name}"].UpdateProperties(MANAGER, {"SupportedInstances": dbus.Byte(count)})


@dbus.service.method(MOCK, in_signature="s")
def Release(self, name):
    """Our advertisement is dropped."""
    adapter = mockobject.objects[f"/org/bluez/{name}"]
    owner, path = adapter.advertisement
    adapter.advertisement = None
    adapter.connection.call_async(owner, path, ADVERTISEMENT, "Release", "", (), lambda: say("released"), say)


@dbus.service.method(MOCK, in_signature="sssss")
def Hear(self, name, address, uuid, data, rssi):
    """An advertisement is received. The first of a device adds it, the others tell what bluetoothd tells."""
    path = f"/org/bluez/{name}/dev_" + address.replace(":", "_")
    values = dbus.Array([dbus.Byte(byte) for byte in bytes.fromhex(data)], signature="y", variant_level=1)
    properties = {
        "ServiceData": dbus.Dictionary({uuid: values}, signature="sv", variant_level=1),
        "RSSI": dbus.Int16(int(rssi), variant_level=1),
    }
    if path in mockobject.objects:
        device = mockobject.objects[path]
        if device.props[DEVICE].get("RSSI") == properties["RSSI"]:
            del properties["RSSI"]
        device.props[DEVICE].update(properties)
        device.EmitSignal(dbus.PROPERTIES_IFACE, "PropertiesChanged", "sa{sv}as", [DEVICE, properties, []])
    else:
        properties = {"Address": address, "Name": "a stranger's words", **properties}
        self.AddObject(path, DEVICE, properties, [])
        mockobject.objects["/"].EmitSignal(
            OBJECT_MANAGER_IFACE, "InterfacesAdded", "oa{sa{sv}}", [dbus.ObjectPath(path), {DEVICE: properties}]
        )
