/* Vectors of floats for one kind of processor, and the exponential over them; whoever includes it says for which.

   LANES: numbers of a vector, as many as a register has: wider ones are spilt to the stack. NAMED(x): x for this kind. half: a
   number of half precision as it lies in memory, where that is asked for. */

#define floats NAMED(floats)
#define whole NAMED(whole)
#define all NAMED(all)
#define chosen NAMED(chosen)
#define exponential NAMED(exponential)

typedef float floats __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef int32_t whole __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

INLINE floats all(float number) { return number - (floats){0}; }

INLINE floats chosen(whole mask, floats yes, floats no) { return (floats)(((whole)yes & mask) | ((whole)no & ~mask)); }

/* e to the power of numbers that are not above 0, 2e-7 of it off at most; 0 below -87 (Cephes' expf). */
INLINE floats exponential(floats x) {
  whole nothing = x < -87.0f;
  x = chosen(nothing, all(-87.0f), x);
  floats doublings = x * 1.44269504088896341f + 12582912.0f;
  doublings = doublings - 12582912.0f; /* rounded */
  floats rest = x - doublings * 0.693359375f;
  rest = rest + doublings * 2.12194440e-4f;
  floats power = all(1.9875691500e-4f);
  power = power * rest + 1.3981999507e-3f;
  power = power * rest + 8.3334519073e-3f;
  power = power * rest + 4.1665795894e-2f;
  power = power * rest + 1.6666665459e-1f;
  power = power * rest + 5.0000001201e-1f;
  power = power * (rest * rest) + rest + 1.0f;
  whole exponent = (__builtin_convertvector(doublings, whole) + 127) << 23;
  return (floats)((whole)(power * (floats)exponent) & ~nothing);
}
