#include "programs/hpar/scripts.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

int hp_take_scripts(const hp_arguments *arguments, int id, hp_script_settings *settings) {
  static const char *const words[] = {"off", "run", NULL};
  size_t index = 0;
  switch (id) {
    case HP_OPTION_SCRIPTS:
      if (!hp_value_word(arguments, words, &index)) return HP_EXIT_USAGE;
      settings->run = index == 1;
      return -1;
    case HP_OPTION_SCRIPT_TIME: return hp_value_number(arguments, 1, 1000000, &settings->seconds) ? -1 : HP_EXIT_USAGE;
    default: return hp_value_number(arguments, 1, 1 << 20, &settings->megabytes) ? -1 : HP_EXIT_USAGE;
  }
}

/* Sets limits of this process. Sanitizers map more memory than any limit allows. */
static void limit_process(const hp_script_settings *settings) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#ifndef SANITIZED
  struct rlimit memory = {(rlim_t)settings->megabytes << 20, (rlim_t)settings->megabytes << 20};
  setrlimit(RLIMIT_DATA, &memory);
#else
  (void)settings;
#endif
}

static int complain_of_signal(const char *path, const hp_script_settings *settings, int number) {
  if (number == SIGXCPU)
    hp_complain("%s: the scripts took more than %llu s of processor time, and their process was ended",
                hp_shown_name(path), (unsigned long long)settings->seconds);
  else
    hp_complain("%s: signal %d (%s) ended the process of the scripts", hp_shown_name(path), number, strsignal(number));
  return HP_EXIT_FAILED;
}

int hp_run_in_child(const char *path, const hp_script_settings *settings, int (*function)(void *argument),
                    void *argument) {
  fflush(stdout);
  fflush(stderr);
  pid_t child = fork();
  if (child < 0) {
    hp_complain("%s: a process for its scripts cannot start: %s", hp_shown_name(path), strerror(errno));
    return HP_EXIT_FAILED;
  }
  if (!child) {
    limit_process(settings);
    int code = hp_finish_output(function(argument));
    fflush(stderr);
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return HP_EXIT_FAILED;
  return WIFSIGNALED(status) ? complain_of_signal(path, settings, WTERMSIG(status)) : WEXITSTATUS(status);
}
