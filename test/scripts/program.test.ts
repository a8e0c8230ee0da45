import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { prepareProgram } from '../../scripts/prepare/program.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const clone = mkdtempSync(join(tmpdir(), 'program-'))
afterAll(() => rmSync(clone, { recursive: true }))

for (const name of ['src', 'scripts', 'package.json', 'package-lock.json', 'openapi.yaml'])
  cpSync(join(ROOT, name), join(clone, name), { recursive: true })
symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))

const run = (...args: string[]) =>
  execFileSync(process.execPath, [join(clone, 'scripts/relayer.mjs'), ...args], {
    cwd: clone,
    encoding: 'utf8',
  })

test('npm start runs the built program while it is current, and the sources after a change', async () => {
  await prepareProgram(clone)
  const main = join(clone, 'dist/main.js')
  // A program of its own tells which of the two runs.
  writeFileSync(main, "console.log('built')\n")
  expect(run('--version')).toBe('built\n')
  writeFileSync(join(clone, 'src/lib/new.ts'), 'export {}\n')
  expect(run('--version')).toMatch(/^\d/)
  await prepareProgram(clone)
  expect(run('--version')).toMatch(/^\d/)
}, 120_000)

test('the program comes with the licence of every package in it, and with the process of PKCS#11 libraries', async () => {
  const licences = readFileSync(join(clone, 'dist/main.js.LICENSE.txt'), 'utf8')
  for (const name of ['koa', 'openapi-backend', 'viem', '@stellar/stellar-sdk'])
    expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, licence: `, 'm'))
  expect(existsSync(join(clone, 'dist/signers/pkcs11/process/main.js'))).toBe(true)
})
