#include "url/idn.h"

#if HPAR_IDN
#include <dlfcn.h>
#include <pthread.h>
#include <unicode/uidna.h>
#include <unicode/uvernum.h>

/* The file name of the library, and the names of its functions, have the version of the headers. */
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static struct {
  pthread_once_t once;
  UIDNA *(*open)(uint32_t, UErrorCode *);
  int32_t (*to_ascii)(const UIDNA *, const char *, int32_t, char *, int32_t, UIDNAInfo *, UErrorCode *);
  UIDNA *names; /* NULL: ICU is missing. Threads share it */
} icu = {.once = PTHREAD_ONCE_INIT};

static void load(void) {
  void *library = dlopen("libicuuc.so." TEXT(U_ICU_VERSION_MAJOR_NUM), RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  *(void **)&icu.open = dlsym(library, TEXT(uidna_openUTS46));
  *(void **)&icu.to_ascii = dlsym(library, TEXT(uidna_nameToASCII_UTF8));
  UErrorCode error = U_ZERO_ERROR;
  uint32_t checks = UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII;
  UIDNA *opened = icu.open && icu.to_ascii ? icu.open(checks, &error) : NULL;
  icu.names = U_SUCCESS(error) ? opened : NULL;
}

//§ concept-domain-to-ascii
hp_idn_result hp_idn_to_ascii(const char *name, size_t length, char *to, size_t capacity, size_t *used) {
  /* The standard allows these in URLs: beStrict is false. */
  enum {
    ALLOWED = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
              UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4
  };
  pthread_once(&icu.once, load);
  if (!icu.names) return HP_IDN_MISSING;
  UErrorCode error = U_ZERO_ERROR;
  UIDNAInfo info = UIDNA_INFO_INITIALIZER;
  int32_t written = icu.to_ascii(icu.names, name, (int32_t)length, to, (int32_t)capacity, &info, &error);
  if (error == U_MEMORY_ALLOCATION_ERROR) return HP_IDN_MISSING;
  if (U_FAILURE(error) || info.errors & ~(uint32_t)ALLOWED || written <= 0) return HP_IDN_INVALID;
  *used = (size_t)written;
  return HP_IDN_CONVERTED;
}

#else

hp_idn_result hp_idn_to_ascii(const char *name, size_t length, char *to, size_t capacity, size_t *used) {
  (void)name, (void)length, (void)to, (void)capacity, (void)used;
  return HP_IDN_MISSING;
}

#endif
