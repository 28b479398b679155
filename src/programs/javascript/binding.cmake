# Writes dom.js as the constant hp_javascript_binding, without comments and indentation:
# cmake -DINPUT=dom.js -DOUTPUT=binding.c -P binding.cmake
file(READ "${INPUT}" text)
string(REGEX REPLACE "\n +" "\n" text "${text}")
string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/\n?" "" text "${text}")
file(WRITE "${OUTPUT}.text" "${text}")
file(READ "${OUTPUT}.text" bytes HEX)
file(REMOVE "${OUTPUT}.text")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"programs/javascript/engine.h\"\n\nconst char hp_javascript_binding[] = {\n${bytes}\n};\n"
                       "const size_t hp_javascript_binding_length = sizeof hp_javascript_binding;\n")
