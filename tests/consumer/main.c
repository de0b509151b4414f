/* Asks one question, one that is refused, and a batch; plain C. */
#include <math.h>
#include <ridge.h>
#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                   \
  if (!(condition)) {                                       \
    fprintf(stderr, "%d: not so: " #condition "\n", __LINE__); \
    return 1;                                               \
  }

int main(void) {
  char* error = NULL;
  EXPECT(ridge_open("/no/such/folder", &error) == NULL && strstr(error, "message") != NULL);
  ridge_free(error);
  error = NULL;
  /* A caller who did not look whether there is a session is told so. */
  int code = -1;
  char* answer = ridge_call(NULL, "show", "{}", &code);
  EXPECT(code == 1 && strstr(answer, "no session") != NULL);
  ridge_free(answer);
  EXPECT(ridge_batch_open(NULL, "infer", "{}", NULL, 0, NULL, 0, &error) == NULL && strstr(error, "no session") != NULL);
  ridge_free(error);
  error = NULL;
  EXPECT(ridge_batch_evaluate(NULL, 0, NULL, 0, NULL, 0, 1, NULL) == 1);
  ridge_session* session = ridge_open(NULL, &error);
  if (session == NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  answer = ridge_call(session, NULL, NULL, &code);
  EXPECT(code == 1 && strstr(answer, "error") != NULL);
  ridge_free(answer);
  EXPECT(ridge_batch_open(session, NULL, NULL, NULL, 0, NULL, 0, NULL) == NULL);
  answer = ridge_call(session, "estimate",
                            "{\"kind\": \"infer\", \"model\": \"llama3.3-70b\", \"device\": \"h200-sxm\", \"gpus\": 2}",
                            &code);
  EXPECT(code == 0 && strstr(answer, "\"output_tokens_per_s\"") != NULL);
  ridge_free(answer);
  answer = ridge_call(session, "estimate", "{\"kind\": \"infer\", \"modle\": 1}", &code);
  EXPECT(code == 1 && strstr(answer, "did you mean") != NULL);
  ridge_free(answer);

  const char* inputs[] = {"tp", "concurrency"};
  const char* outputs[] = {"output_tokens_per_s", "reason"};
  const char* flags = "{\"model\": \"llama3.3-70b\", \"device\": \"h200-sxm\"}";
  ridge_batch* batch = ridge_batch_open(session, "infer", flags, inputs, 2, outputs, 2, &error);
  EXPECT(batch != NULL);
  const int tp[] = {1, 2, 4};
  const double clients[] = {8, 8, 8};
  const ridge_array in[] = {{RIDGE_INT32, tp}, {RIDGE_DOUBLE, clients}};
  double rate[3];
  double reason[3];
  double* const out[] = {rate, reason};
  EXPECT(ridge_batch_evaluate(batch, 3, in, 2, out, 2, 1, &error) == 0);
  EXPECT(isnan(rate[0]) && strcmp(ridge_reason_name((int)reason[0]), "out of memory") == 0);
  EXPECT(reason[1] == 0 && reason[2] == 0 && rate[2] > rate[1]);
  EXPECT(ridge_batch_evaluate(batch, 3, in, 1, out, 2, 1, &error) == 1);
  ridge_free(error);
  ridge_batch_close(batch);
  ridge_close(session);
  printf("%s: %.0f and %.0f tokens/s\n", ridge_version(), rate[1], rate[2]);
  return 0;
}
