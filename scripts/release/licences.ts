/** A package that the service runs with, or has a part of. */
export interface LicensedPackage {
  readonly name: string
  readonly version: string
  /** An SPDX expression, as its package.json has it; undefined if it says nothing. */
  readonly license: string | undefined
  /** The texts of its licence files; empty if it has none. */
  readonly texts: readonly string[]
}

/** Licences that let anyone use, change and redistribute a package together with code under MIT. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
  'Unlicense',
])

/** Returns true if one of the alternatives of an SPDX expression is a permissive licence. */
export function isPermissive(license: string | undefined): boolean {
  const alternatives = (license ?? '').replaceAll(/[()]/g, ' ').split(/\sOR\s/i)
  return alternatives.some((one) => one.split(/\sAND\s/i).every((part) => PERMISSIVE.has(part.trim())))
}

/** Writes the licences of all packages: a list first, then each text once, with the packages that have it. */
export function licencesText(packages: readonly LicensedPackage[]): string {
  const sorted = packages.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const list = sorted.map((one) => `${nameOf(one)}: ${one.license ?? 'unknown'}`)
  const texts = Map.groupBy(
    sorted.flatMap((one) => one.texts.map((text) => ({ name: nameOf(one), text: text.trim() }))),
    ({ text }) => text,
  )
  const parts = [...texts].map(([text, users]) => `${users.map(({ name }) => name).join('\n')}\n\n${text}`)
  return `${[list.join('\n'), ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

function nameOf({ name, version }: LicensedPackage): string {
  return `${name} ${version}`
}
