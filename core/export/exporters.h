// The exporters that registry.cpp lists, by file.
#pragma once

#include "export/exporter.h"

namespace gs {

Exporter analysisExporter();         ///< analysis_json.cpp
Exporter scheduleExporter();         ///< schedule_json.cpp
Exporter magiEnvironment();          ///< magi_config.cpp
Exporter magiPython();               ///< magi_config.cpp
Exporter magiYaml();                 ///< magi_config.cpp
Exporter inductorExporter();         ///< inductor_config.cpp
Exporter torchtitanExporter();       ///< inductor_config.cpp
Exporter magiLogExporter();          ///< magi_log.cpp
Exporter pgeTraceExporter();         ///< pge_trace.cpp
Exporter reportExporter();           ///< html/report.cpp
Exporter timelinePictureExporter();  ///< html/report.cpp
Exporter liveBytesPictureExporter(); ///< html/report.cpp
Exporter graphExporter();            ///< graph_json.cpp
Exporter bundleExporter();           ///< bundle.cpp
Exporter graphDotExporter();         ///< graph_dot.cpp
Exporter chromeTraceExporter();      ///< chrome_trace.cpp
Exporter gatherTableExporter();      ///< csv_tables.cpp
Exporter costTableExporter();        ///< csv_tables.cpp
Exporter transferTableExporter();    ///< csv_tables.cpp

} // namespace gs
