/**
 * `npm run licences`: prints the licences of everything that the package runs with or has parts of, and fails
 * if one of them is not permissive. It reads what is installed, so run it after `npm ci`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPermissive, type LicensedPackage, licencesText } from './release/licences.ts'

const ROOT = join(import.meta.dirname, '..')

/** Packages for development whose code is in the console, the guides and the reference. */
const BUNDLED = ['minisearch', 'preact', 'redoc']

interface Locked {
  readonly dev?: boolean
  readonly link?: boolean
  readonly optional?: boolean
}

/** Reads an installed package. Undefined for an optional one of another platform. */
function readPackage(path: string, { optional }: Locked): LicensedPackage | undefined {
  const folder = join(ROOT, path)
  if (!existsSync(folder)) {
    if (optional) return undefined
    throw new Error(`${path} is not installed. Run npm ci first.`)
  }
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
  return {
    name,
    version,
    license: typeof license === 'string' ? license : license?.type,
    texts: files.sort().map((file) => readFileSync(join(folder, file), 'utf8')),
  }
}

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>
}
const used = Object.entries(packages).filter(
  ([path, { dev, link }]) =>
    path.startsWith('node_modules/') &&
    !link &&
    (!dev || BUNDLED.some((name) => path === `node_modules/${name}`)),
)
const found = used.flatMap(([path, locked]) => readPackage(path, locked) ?? [])
process.stdout.write(licencesText(found))
const others = found.filter(({ license }) => !isPermissive(license))
for (const { name, version, license } of others)
  console.error(`${name} ${version} has the licence ${license ?? '(none)'}, which is not a permissive one.`)
process.exitCode = others.length === 0 ? 0 : 1
