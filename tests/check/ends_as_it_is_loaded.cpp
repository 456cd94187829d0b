// A file whose static constructors end the process that loads it.
#define ENDS_AS_IT_IS_LOADED
#include "misbehaving.cpp"
