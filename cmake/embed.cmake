# cmake -DINPUT=<file> -DOUTPUT=<source> -DSYMBOL=<name> -P embed.cmake: the file as an array of bytes, with a zero behind them.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE "${OUTPUT}" "extern const unsigned char ${SYMBOL}[];\nalignas(16) const unsigned char ${SYMBOL}[] = {${bytes}0x00};\n")
