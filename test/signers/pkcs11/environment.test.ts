import { expect, test } from 'vitest'
import { moduleEnvironment } from '../../../src/signers/pkcs11/module-process.ts'

test('the library of an HSM gets its own variables and those of the system, and none of the secrets of the service', () => {
  const own = {
    PATH: '/usr/bin',
    LC_ALL: 'C.UTF-8',
    SOFTHSM2_CONF: '/etc/softhsm2.conf',
    ChrystokiConfigurationPath: '/etc/luna',
    NFAST_HOME: '/opt/nfast',
    CS_PKCS11_R3_CFG: '/etc/utimaco.cfg',
  }
  const secret = {
    API_KEY: 'a',
    STORAGE_ENCRYPTION_KEY: 'b',
    DATABASE_URL: 'postgres://user:secret@host/db',
    KEYSTORE_PASSPHRASE: 'c',
    HSM_PIN: 'd',
    WEBHOOK_SIGNING_KEY: 'e',
    NODE_OPTIONS: '--require ./other.js',
    MY_PATH: 'f',
  }
  expect(moduleEnvironment({ ...own, ...secret })).toEqual(own)
})
