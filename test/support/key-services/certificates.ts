import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Certificates of a test, made by openssl: an authority, a server on 127.0.0.1, and a client. */
export interface Certificates {
  readonly path: (name: 'ca' | 'server' | 'client', ending: 'crt' | 'key') => string
  readonly read: (name: 'ca' | 'server' | 'client', ending: 'crt' | 'key') => Promise<string>
  remove(): Promise<void>
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** Makes them in a temporary folder. */
export async function createCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-tls-'))
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  openssl(
    'req',
    '-x509',
    ...KEY,
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
  )
  await writeFile(join(folder, 'names'), 'subjectAltName=IP:127.0.0.1\n')
  for (const name of ['server', 'client']) {
    openssl('req', ...KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`)
    const authority = [
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      'names',
    ]
    openssl('x509', '-req', '-in', `${name}.csr`, ...authority, '-out', `${name}.crt`)
  }
  const path: Certificates['path'] = (name, ending) => join(folder, `${name}.${ending}`)
  return {
    path,
    read: (name, ending) => readFile(path(name, ending), 'utf8'),
    remove: () => rm(folder, { recursive: true }),
  }
}
