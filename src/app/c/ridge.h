/* Ridgeline for other languages: JSON in, JSON out, and batches over plain arrays.
 *
 *   char* error = NULL;
 *   ridge_session* session = ridge_open(NULL, &error);
 *   int code = 0;
 *   char* answer = ridge_call(session, "estimate",
 *       "{\"kind\": \"infer\", \"model\": \"llama3.3-70b\", \"device\": \"h200-sxm\", \"gpus\": 2}", &code);
 *   ... answer is what `ridge estimate infer --model llama3.3-70b ... --json` prints, to the last byte ...
 *   ridge_free(answer);
 *   ridge_close(session);
 *
 * Keys are the names of the verb's flags without dashes, - as _; "kind" and "id" are the words after the verb, "file" a
 * path where the verb takes one. Switches are true, flags that may be repeated take lists.
 *
 * Threads: any number of threads may use one session, and one batch, at the same time. Nothing here prints, exits,
 * throws, or changes the process. Every char* that is returned is the caller's: ridge_free() it. */
#ifndef RIDGE_H
#define RIDGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(RIDGE_BUILDS_LIBRARY)
#define RIDGE_API __attribute__((visibility("default")))
#else
#define RIDGE_API
#endif

typedef struct ridge_session ridge_session;
typedef struct ridge_batch ridge_batch;

/* "1.0.0"; not to be freed. */
RIDGE_API const char* ridge_version(void);

/* Reads the catalogue. data_directory NULL: $RIDGE_DATA, share/ridgeline beside the library, or the source tree that
 * it was built in. NULL with *error set (to be freed) if there is none or it cannot be read; error may be NULL. */
RIDGE_API ridge_session* ridge_open(const char* data_directory, char** error);
/* From now on texts name fields as a person writes them who calls from Python: tp=8 instead of "tp": 8. Before the
 * first call. */
RIDGE_API void ridge_speak_python(ridge_session* session);
RIDGE_API void ridge_close(ridge_session* session);

/* Runs a verb (estimate, plan, simulate, cost, goodput, facility, mlperf, check, validate, show, ...). *exit_code is
 * what the program would exit with: 0 fine, 1 bad input, 2 refused or infeasible, 3 a check did not hold. Without an
 * answer the text is {"error": {"where": "...", "message": "..."}}. Never NULL. */
RIDGE_API char* ridge_call(ridge_session* session, const char* verb, const char* json_flags, int* exit_code);

RIDGE_API void ridge_free(char* text);

/* Many plans in one call. `kind` is "infer" or "train". Columns are named like the flags of `ridge estimate`
 * (ridge_batch_names lists them); what is no column is a flag, the same for all points. NULL with *error set (a JSON
 * error as above) if a name does not exist or the layout is left open: a batch chooses nothing. The session must
 * outlive the batch. */
RIDGE_API ridge_batch* ridge_batch_open(ridge_session* session, const char* kind, const char* json_flags,
                                        const char* const* inputs, size_t input_count, const char* const* outputs,
                                        size_t output_count, char** error);
RIDGE_API void ridge_batch_close(ridge_batch* batch);

typedef enum ridge_type { RIDGE_INT32 = 0, RIDGE_INT64 = 1, RIDGE_DOUBLE = 2 } ridge_type;

typedef struct ridge_array {
  ridge_type type;
  const void* values; /* as many as there are points */
} ridge_array;

/* Arrays in the order of ridge_batch_open. Allocates nothing per point. A point that cannot run has NaN in every
 * output but "reason" (0 = it runs; ridge_reason_name) and "short_by". 0 if done, 1 with *error set if the number of
 * arrays is wrong. `threads` of them share the work; 1 = the caller's alone. */
RIDGE_API int ridge_batch_evaluate(const ridge_batch* batch, size_t points, const ridge_array* inputs,
                                   size_t input_count, double* const* outputs, size_t output_count, unsigned threads,
                                   char** error);

/* {"inputs": [...], "outputs": [...]} of "infer" or "train". */
RIDGE_API char* ridge_batch_names(const char* kind);

/* "out_of_memory"; "" for numbers that are no reason. Not to be freed. */
RIDGE_API const char* ridge_reason_name(int reason);

#ifdef __cplusplus
}
#endif

#endif
