#include <hpar/node.h>

const char *hpar_status_text(hpar_status status) {
  switch (status) {
    case HPAR_OK: return "no error";
    case HPAR_ERROR_MEMORY: return "out of memory";
    case HPAR_ERROR_ARGUMENT: return "an argument is outside its range";
    case HPAR_ERROR_IO: return "reading or writing failed";
    case HPAR_ERROR_TOO_LARGE: return "the input is longer than 4 GB";
    case HPAR_ERROR_UNSUPPORTED: return "this build was made without that part";
    case HPAR_ERROR_CALLBACK: return "a callback failed";
    case HPAR_STOP: return "a callback ended the call";
    case HPAR_RETIRE: return "a callback retired a rule";
    case HPAR_LIMIT_DEPTH: return "the limit of open elements was reached";
    case HPAR_LIMIT_NODES: return "the limit of nodes was reached";
    case HPAR_LIMIT_MEMORY: return "the limit of memory was reached";
    case HPAR_LIMIT_ATTRIBUTES: return "the limit of attributes of an element was reached";
    case HPAR_LIMIT_TIME: return "the limit of time was reached";
    case HPAR_LIMIT_INPUT: return "the limit of input was reached";
  }
  return "unknown status";
}

const char *hpar_version(void) { return HPAR_VERSION; }
