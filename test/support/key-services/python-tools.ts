import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The packages of the key services that tests run. moto serves AWS KMS. */
const PACKAGES = ['moto==5.2.5', 'flask==3.1.2', 'flask-cors==6.0.1']

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))

/** An installation may take this long, in ms; another test file may be making the same one. */
const INSTALL_MS = 300_000

/** Returns a Python with the packages, in a virtual environment that is made once. It needs Python 3 with venv, and the registry once. */
export async function pythonWithTools(): Promise<string> {
  const name = PACKAGES.join('-').replaceAll('==', '-')
  const folder = `${CACHE}${name}`
  const python = `${folder}/bin/python`
  const ready = `${folder}/ready`
  if (existsSync(ready)) return python
  // Test files run in several processes: each makes its own, and the first that is complete stays.
  const own = `${folder}-${process.pid}`
  await mkdir(CACHE, { recursive: true })
  await run('python3', ['-m', 'venv', own])
  await run(`${own}/bin/python`, ['-m', 'pip', 'install', '--quiet', ...PACKAGES], { timeout: INSTALL_MS })
  await writeFile(`${own}/ready`, '')
  await rename(own, folder).catch(() => rm(own, { recursive: true }))
  return python
}
