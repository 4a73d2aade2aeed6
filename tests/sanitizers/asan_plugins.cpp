// Only in programs under AddressSanitizer. Open MPI unloads its plugins at the end: what they never freed
// then belongs to "<unknown module>", which no suppression can name, and what only their own variables point
// to counts as leaked. So they stay.
extern "C" int dlclose(void*) {
    return 0;
}
