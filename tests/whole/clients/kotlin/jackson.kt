// The only function of jackson-module-kotlin that the generated client calls: no package here has that module.
package com.fasterxml.jackson.module.kotlin

import com.fasterxml.jackson.databind.ObjectMapper

fun jacksonObjectMapper(): ObjectMapper = ObjectMapper()
