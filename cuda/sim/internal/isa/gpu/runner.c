// Runs the cases that isagolden wrote to a folder on a GPU, and writes their outputs.
//
//   gcc -O1 -o runner runner.c -ldl && ./runner FOLDER OUT
//
// OUT/outputs.bin holds all outputs at the offsets of FOLDER/manifest.txt, and
// OUT/status.txt a line for each case. Each module runs in a process of its own that
// is started again behind a case that faults or hangs, so that one case costs no
// other. It needs the driver only, neither headers nor the toolkit.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*fn)();
static void *lib;

static fn sym(const char *name) {
  fn f = (fn)dlsym(lib, name);
  if (!f) { fprintf(stderr, "libcuda has no %s\n", name); exit(3); }
  return f;
}

struct kase { char module[64], kernel[64], name[200]; int grid, block, cluster; long in, inSize, out, outSize; };
struct status { int done; char text[240]; };

static char *readAll(const char *path, long *size) {
  FILE *f = fopen(path, "rb");
  if (!f) { perror(path); exit(2); }
  fseek(f, 0, SEEK_END);
  *size = ftell(f);
  rewind(f);
  char *b = malloc(*size + 1);
  if (fread(b, 1, *size, f) != (size_t)*size) { perror(path); exit(2); }
  b[*size] = 0;
  fclose(f);
  return b;
}

static int (*errorName)(int, const char **);
static const char *nameOf(int r) {
  const char *s = "unknown error";
  if (errorName) errorName(r, &s);
  return s;
}

// Runs cases[from..to) of one module; marks each in st.
static void child(const char *dir, struct kase *k, struct status *st, int from, int to, char *in, char *out) {
  lib = dlopen("libcuda.so.1", RTLD_NOW);
  if (!lib) { fprintf(stderr, "%s\n", dlerror()); exit(3); }
  errorName = (int (*)(int, const char **))dlsym(lib, "cuGetErrorName");
  int r, dev;
  void *ctx, *mod, *f;
  if ((r = sym("cuInit")(0)) || (r = sym("cuDeviceGet")(&dev, 0)) || (r = sym("cuDevicePrimaryCtxRetain")(&ctx, dev)) || (r = sym("cuCtxSetCurrent")(ctx))) {
    fprintf(stderr, "no device: %s\n", nameOf(r));
    exit(3);
  }
  char path[600], log[4000] = "";
  snprintf(path, sizeof path, "%s/%s", dir, k[from].module);
  long n;
  char *ptx = readAll(path, &n);
  int options[] = {5, 6}; // CU_JIT_ERROR_LOG_BUFFER and its size
  void *values[] = {log, (void *)(size_t)sizeof log};
  r = sym("cuModuleLoadDataEx")(&mod, ptx, 2, options, values);
  if (r) {
    for (int i = from; i < to; i++) { snprintf(st[i].text, sizeof st[i].text, "module: %s %.150s", nameOf(r), log); st[i].done = 1; }
    fprintf(stderr, "%s: %s\n%s\n", k[from].module, nameOf(r), log);
    exit(0);
  }
  unsigned long long din, dout;
  fn alloc = sym("cuMemAlloc_v2"), set = sym("cuMemsetD8_v2"), h2d = sym("cuMemcpyHtoD_v2"), d2h = sym("cuMemcpyDtoH_v2"), launch = sym("cuLaunchKernel"), sync = sym("cuCtxSynchronize"), get = sym("cuModuleGetFunction");
  long mostIn = 0, mostOut = 0;
  for (int i = from; i < to; i++) { if (k[i].inSize > mostIn) mostIn = k[i].inSize; if (k[i].outSize > mostOut) mostOut = k[i].outSize; }
  if (alloc(&din, (size_t)mostIn + 256) || alloc(&dout, (size_t)mostOut + 256)) { fprintf(stderr, "no memory\n"); exit(3); }
  for (int i = from; i < to; i++) {
    struct kase *c = &k[i];
    void *args[] = {&din, &dout};
    snprintf(st[i].text, sizeof st[i].text, "fault or hang");
    alarm(20);
    r = get(&f, mod, c->kernel);
    if (!r) r = set(dout, 0, (size_t)c->outSize);
    if (!r && c->inSize) r = h2d(din, in + c->in, (size_t)c->inSize);
    if (!r) r = launch(f, c->grid, 1, 1, c->block, 1, 1, 0, (void *)0, args, (void *)0);
    if (!r) r = sync();
    if (!r) r = d2h(out + c->out, dout, (size_t)c->outSize);
    alarm(0);
    snprintf(st[i].text, sizeof st[i].text, "%s", r ? nameOf(r) : "ok");
    st[i].done = 1;
    if (r) exit(1); // the context is lost
  }
  exit(0);
}

int main(int argc, char **argv) {
  if (argc != 3) { fprintf(stderr, "usage: runner FOLDER OUT\n"); return 2; }
  char path[600], module[64] = "";
  long inSize, text, total = 0;
  snprintf(path, sizeof path, "%s/inputs.bin", argv[1]);
  char *in = readAll(path, &inSize);
  snprintf(path, sizeof path, "%s/manifest.txt", argv[1]);
  char *manifest = readAll(path, &text);
  int n = 0, room = 1;
  for (char *p = manifest; *p; p++) room += *p == '\n';
  struct kase *k = calloc(room, sizeof *k);
  for (char *p = strtok(manifest, "\n"); p; p = strtok(0, "\n")) {
    struct kase *c = &k[n];
    if (sscanf(p, "module %63s", module) == 1) continue;
    if (sscanf(p, "case %63s %d %d %d %ld %ld %ld %ld %199[^\n]", c->kernel, &c->grid, &c->block, &c->cluster, &c->in, &c->inSize, &c->out, &c->outSize, c->name) != 9) { fprintf(stderr, "manifest: %s\n", p); return 2; }
    strcpy(c->module, module);
    if (c->out + c->outSize > total) total = c->out + c->outSize;
    n++;
  }
  char *out = mmap(0, total + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct status *st = mmap(0, n * sizeof *st, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (out == MAP_FAILED || st == MAP_FAILED) { perror("mmap"); return 2; }
  int restarts = 0;
  for (int from = 0; from < n;) {
    int to = from;
    while (to < n && !strcmp(k[to].module, k[from].module)) to++;
    pid_t pid = fork();
    if (pid < 0) { perror("fork"); return 2; }
    if (pid == 0) child(argv[1], k, st, from, to, in, out);
    int code;
    waitpid(pid, &code, 0);
    if (WIFEXITED(code) && WEXITSTATUS(code) == 3) return 3;
    int next = from;
    while (next < to && st[next].done) next++;
    if (next < to && !(WIFEXITED(code) && WEXITSTATUS(code) == 1)) { st[next].done = 1; next++; } // it was killed in this one
    if (next < to) restarts++;
    if (restarts > 60) { fprintf(stderr, "too many cases fail\n"); break; }
    from = next;
  }
  snprintf(path, sizeof path, "%s/outputs.bin", argv[2]);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(out, 1, total, f) != (size_t)total || fclose(f)) { perror(path); return 2; }
  snprintf(path, sizeof path, "%s/status.txt", argv[2]);
  f = fopen(path, "w");
  if (!f) { perror(path); return 2; }
  int ok = 0;
  for (int i = 0; i < n; i++) {
    for (char *p = st[i].text; *p; p++) if (*p == '\n') *p = ' ';
    ok += !strcmp(st[i].text, "ok");
    fprintf(f, "%s\t%s\t%s\n", k[i].kernel, st[i].text, k[i].name);
    if (strcmp(st[i].text, "ok")) printf("%s: %s\n", k[i].name, st[i].text);
  }
  fclose(f);
  printf("%d of %d cases ran\n", ok, n);
  return 0;
}
