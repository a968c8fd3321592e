/* Products of whole numbers on tiles (Intel's AMX), where the processor has them and the system lends them (docs/engine.md).

   A tile is up to 16 rows of 64 bytes. Two tiles of rows and two of weights are multiplied at a time, so four tiles of sums
   stand beside four of factors, which are all there are. Sums of whole numbers are the same in any order: what comes out
   is what row_product_arithmetic.h computes without tiles, to the last bit.

   Numbers of rows have a sign, weights have none (int8_kernels.c says why). Each tile of either lies in one piece: where its
   rows lie apart, a deep product waits for them.

   The instructions are written out: GCC 12's own functions do not say what memory they read, so that it leaves out, or
   puts off, what was to be written there before. */

#include <sys/syscall.h>
#include <unistd.h>

/* Rows that are multiplied at a time, and before anything follows: the wide vectors of what follows are slow for a while behind
   products on tiles, so both take turns as seldom as the nearest caches allow. */
enum { TILED = 2 * TILE, TURN = 6 * TILED, TILE_BYTES = 4 * TILE * TILE, PALETTE = 1, LEND = 0x1023, TILE_DATA = 18 };

/* Ask the system for tiles, for all threads of this process (Linux 5.16; arch_prctl(2), ARCH_REQ_XCOMP_PERM). */
static int tiles_are_lent(void) { return syscall(SYS_arch_prctl, LEND, TILE_DATA) == 0; }

typedef struct {
  uint8_t palette, start, unused[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} Shape;

#define TILE_LOADED(tile, from)                                                                                      \
  __asm__ volatile("{tileloadd (%0,%1,1), %%tmm" #tile "|tileloadd tmm" #tile ", [%0+%1*1]}" : : "r"(from), "r"((Py_ssize_t)DEPTH) : "memory")
#define TILE_STORED(tile, to)                                                                                        \
  __asm__ volatile("{tilestored %%tmm" #tile ", (%0,%1,1)|tilestored [%0+%1*1], tmm" #tile "}" : : "r"(to), "r"((Py_ssize_t)(COLUMNS * sizeof(int32_t))) : "memory")
#define TILE_ZEROED(tile) __asm__ volatile("tilezero {%%|}tmm" #tile ::)
#define TILE_ADDED(sum, rows, columns) \
  __asm__ volatile("{tdpbsud %%tmm" #columns ", %%tmm" #rows ", %%tmm" #sum "|tdpbsud tmm" #sum ", tmm" #rows ", tmm" #columns "}" ::)

/* Shape the tiles for so many rows, 16 at most, and so many after them. */
static void shape_tiles(int upper, int lower) {
  const int rows[] = {upper, upper, lower, lower, upper, lower, TILE, TILE}; /* four of sums, two of rows, two of weights */
  Shape shape = {.palette = PALETTE};
  for (int tile = 0; tile < 8; tile++) {
    shape.rows[tile] = (uint8_t)rows[tile];
    shape.bytes[tile] = rows[tile] ? 4 * TILE : 0;
  }
  __asm__ volatile("ldtilecfg {%0|%0}" : : "m"(shape));
}

/* Multiply the rows that the tiles are shaped for with 64 columns. from, until: which bytes of the weights of as many columns
   further on are asked for meanwhile, of each two tiles. */
INLINE void multiply_tiled(int lower, Py_ssize_t depth, const uint8_t *weights, const int8_t *numbers, int32_t (*made)[COLUMNS],
                           Py_ssize_t from, Py_ssize_t until) {
  for (int half = 0; half < COLUMNS; half += 2 * TILE) {
    const int8_t *rows = numbers;
    TILE_ZEROED(0);
    TILE_ZEROED(1);
    if (lower) {
      TILE_ZEROED(2);
      TILE_ZEROED(3);
    }
    for (Py_ssize_t at = 0; at < depth; at += DEPTH, weights += 2 * TILE_BYTES, rows += TILE_BYTES) {
      TILE_LOADED(4, rows);
      TILE_LOADED(6, weights);
      TILE_LOADED(7, weights + TILE_BYTES);
      TILE_ADDED(0, 4, 6);
      TILE_ADDED(1, 4, 7);
      if (lower) {
        TILE_LOADED(5, rows + TILE * depth);
        TILE_ADDED(2, 5, 6);
        TILE_ADDED(3, 5, 7);
      }
      for (Py_ssize_t byte = from; byte < until; byte += 64) __builtin_prefetch(weights + COLUMNS * depth + byte, 0, 2);
    }
    TILE_STORED(0, made[0] + half);
    TILE_STORED(1, made[0] + half + TILE);
    if (lower) {
      TILE_STORED(2, made[TILE] + half);
      TILE_STORED(3, made[TILE] + half + TILE);
    }
  }
}

/* All rows with all columns, as multiply_all of row_product_arithmetic.h. Each block of rows asks for its share of the next
   columns' weights. */
static void multiply_all_tiled(const Product *product, const Numbers *rows) {
  const Py_ssize_t depth = product->rows.width, count = product->rows.count, blocks = (count + TILED - 1) / TILED;
  const Py_ssize_t share = blocks ? (2 * TILE_BYTES / 64 + blocks - 1) / blocks * 64 : 0;
  int32_t made[TURN][COLUMNS] __attribute__((aligned(64)));
  Py_ssize_t shaped = 0;
  for (Py_ssize_t column = 0; column < product->columns; column += COLUMNS) {
    const int ahead = column + COLUMNS < product->columns;
    for (Py_ssize_t turn = 0, stop; turn < count; turn = stop) {
      stop = turn + TURN < count ? turn + TURN : count;
      for (Py_ssize_t row = turn; row < stop; row += TILED) {
        const Py_ssize_t many = count - row < TILED ? count - row : TILED, upper = many < TILE ? many : TILE;
        const Py_ssize_t from = row / TILED * share, until = from + share < 2 * TILE_BYTES ? from + share : 2 * TILE_BYTES;
        if (many != shaped) shape_tiles((int)upper, (int)(many - upper));
        shaped = many;
        multiply_tiled(many > TILE, depth, product->weights + column * depth, rows->bytes + row * depth, made + row - turn, from,
                       ahead ? until : from);
      }
      follow(product, made, turn, stop - turn, column, rows);
    }
  }
  __asm__ volatile("tilerelease" ::);
}
