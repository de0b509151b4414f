# The web page as bytes in the program: npm brings the packages of web/package-lock.json, esbuild bundles, and
# web/build.mjs writes page_data.cpp. Without npm the program is built all the same and `ridge serve` has the API alone.
find_program(NPM npm)
find_program(NODE node)
set(page_dir ${CMAKE_BINARY_DIR}/page)
set(page_source ${page_dir}/page_data.cpp)
if(NPM AND NODE)
  file(GLOB page_inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/* ${CMAKE_SOURCE_DIR}/web/src/views/*
       ${CMAKE_SOURCE_DIR}/docs/openapi.json ${CMAKE_SOURCE_DIR}/examples/fleet/*.toml)
  add_custom_command(
    OUTPUT ${page_dir}/packages.stamp
    COMMAND ${NPM} ci --prefix ${CMAKE_SOURCE_DIR}/web --no-fund --no-audit --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E make_directory ${page_dir}
    COMMAND ${CMAKE_COMMAND} -E touch ${page_dir}/packages.stamp
    DEPENDS ${CMAKE_SOURCE_DIR}/web/package-lock.json
    COMMENT "Installing the packages of the web page")
  add_custom_command(
    OUTPUT ${page_source}
    COMMAND ${NODE} ${CMAKE_SOURCE_DIR}/web/build.mjs ${page_dir}
    DEPENDS ${page_dir}/packages.stamp ${page_inputs} ${CMAKE_SOURCE_DIR}/web/build.mjs
    COMMENT "Bundling the web page")
else()
  message(STATUS "npm is not here: ridge serve is built without its page")
  file(WRITE ${page_source}
    "#include \"app/http/page_data.hpp\"\nnamespace ridge::http {\nstd::span<const PageFile> page_files() { return {}; }\n}\n")
endif()
