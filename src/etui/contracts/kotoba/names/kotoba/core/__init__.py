"""The parts of `kotoba.core` that tool modules import. Above: tool files. It refuses to know: Kotoba's product."""
