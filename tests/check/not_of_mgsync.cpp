// A shared object that holds no barrier.
extern "C" int something_else() { return 42; }
