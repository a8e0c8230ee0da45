/** Files that Node.js never loads: source maps, declarations and sources of TypeScript and Flow, and documentation. */
const DEAD_FILE = /(\.map|\.[cm]?tsx?|\.flow|\.tsbuildinfo|\.md|\.markdown)$/i

/** The texts that a licence requires to stay with the program. */
const LICENCE = /^(licen[cs]e|copying|notice|copyright|third[-_]?party)/i

/**
 * Parts of packages that this service does not load, as the beginning of a path in the folder of modules. The service imports ES modules, so
 * builds for `require` and for browsers are unused where a package has them beside its ES modules.
 */
const UNUSED_PARTS = [
  // An optional peer of @solana/kit and viem, for the types of those who compile against them.
  'typescript/',
  // Bundles for browsers, the build for `require`, and the one for axios.
  '@stellar/stellar-sdk/dist/',
  '@stellar/stellar-sdk/lib/cjs/',
  '@stellar/stellar-sdk/lib/axios/',
  'viem/_cjs/',
  'viem/_types/',
  'ox/_cjs/',
  'ox/_types/',
  // The C sources and objects of the addon, which is built when this is removed.
  'secp256k1/src/',
  'secp256k1/build/Release/obj.target/',
] as const

/** Builds of @solana packages for browsers and React Native. */
const SOLANA_ELSEWHERE = /^@solana\/.*\.(browser|native)\.[cm]?js$/

/** Decides if a production installation works without a file. The path is relative to the folder of modules, with slashes. */
export function isDeadWeight(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (LICENCE.test(name) && !DEAD_CODE.test(name)) return isUnusedPackage(path)
  return DEAD_FILE.test(name) || SOLANA_ELSEWHERE.test(path) || isUnused(path)
}

/** A licence file of this kind is code that happens to have the name. */
const DEAD_CODE = /\.(map|[cm]?tsx?)$/i

/** The licence goes with its package only when the whole package goes. */
function isUnusedPackage(path: string): boolean {
  return path.startsWith('typescript/')
}

function isUnused(path: string): boolean {
  return UNUSED_PARTS.some((part) => path.startsWith(part) || path.includes(`/node_modules/${part}`))
}
