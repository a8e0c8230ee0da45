import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'

type Library = typeof import('secp256k1')

let loaded: Library | undefined

/**
 * Returns the binding of libsecp256k1. The package itself would fall back to an implementation in JavaScript without a word, which is
 * slower and not protected against timing attacks.
 * @throws Error when the addon was not built for this machine
 */
export function libsecp256k1(): Library {
  loaded ??= load()
  return loaded
}

function load(): Library {
  const library = requireBinding()
  // The random context blinds the library's multiplications, so that their timing reveals nothing about a key.
  library.contextRandomize(randomBytes(32))
  return library
}

function requireBinding(): Library {
  try {
    return createRequire(import.meta.url)('secp256k1/bindings.js')
  } catch (cause) {
    const detail = `The native addon of the package secp256k1 is missing for ${process.platform}-${process.arch}. Build it with: npm rebuild secp256k1 (it needs a C++ compiler, make and Python 3).`
    throw new Error(detail, { cause })
  }
}
