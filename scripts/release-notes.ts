/** `node scripts/release-notes.ts v1.2.0`: prints what CHANGELOG.md says about a release, or fails when the files do not agree with the tag. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { releaseNotes, versionOfTag } from './release/release-notes.ts'

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8')
const lock = JSON.parse(read('package-lock.json'))
const chart = parse(read('ops/helm/multichain-relayer/Chart.yaml'))

try {
  const version = versionOfTag(process.argv[2] ?? '', {
    'package.json': JSON.parse(read('package.json')).version,
    'package-lock.json': lock.version,
    'clients/typescript in package-lock.json': lock.packages['clients/typescript'].version,
    'clients/typescript/package.json': JSON.parse(read('clients/typescript/package.json')).version,
    'openapi.yaml': parse(read('openapi.yaml')).info.version,
    'version of the Helm chart': chart.version,
    'appVersion of the Helm chart': chart.appVersion,
  })
  process.stdout.write(releaseNotes(read('CHANGELOG.md'), version))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
