/* crawl.sh preloads this library. It ends the process when zlib decodes a body with a marker, so
 * that a record of an archive ends the processes that read its body. */

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <zlib.h>

typedef int inflate_function(z_streamp stream, int flush);

int inflate(z_streamp stream, int flush) {
  static inflate_function *next;
  static const char marker[] = "marker that ends the process";
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "inflate");
  const Bytef *from = stream->next_out;
  int result = next(stream, flush);
  size_t made = (size_t)(stream->next_out - from);
  if (made && memmem(from, made, marker, sizeof marker - 1)) raise(SIGKILL);
  return result;
}
