/* One question from plain C: will it fit, and how fast is it?
 *
 *   cc examples/estimate.c -Isrc/app/c -Lbuild/release -lridgeline -Wl,-rpath,build/release -o estimate
 *   ./estimate llama3.3-70b h200-sxm 2
 *
 * With an installed package: cc estimate.c -lridgeline. */
#include <ridge.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: estimate MODEL DEVICE GPUS\n");
    return 1;
  }
  char* error = NULL;
  ridge_session* session = ridge_open(NULL, &error);
  if (session == NULL) {
    fprintf(stderr, "%s\n", error);
    ridge_free(error);
    return 1;
  }
  char flags[512];
  snprintf(flags, sizeof flags, "{\"kind\": \"infer\", \"model\": \"%s\", \"device\": \"%s\", \"gpus\": %s}", argv[1],
           argv[2], argv[3]);
  int code = 0;
  char* answer = ridge_call(session, "estimate", flags, &code);
  if (code == 0) {
    /* The answer is JSON: take a reader you like. Two lines are enough here. */
    const char* rate = strstr(answer, "\"output_tokens_per_s\"");
    const char* bound = strstr(answer, "\"bottleneck\"");
    printf("%.*s\n%.*s\n", (int)strcspn(rate, "}") + 1, rate, (int)strcspn(bound, "\n"), bound);
  } else {
    const char* why = strstr(answer, code == 2 ? "\"reason\"" : "\"message\"");
    printf("exit code %d: %.*s\n", code, (int)strcspn(why, "\n"), why);
  }
  ridge_free(answer);
  ridge_close(session);
  return code;
}
