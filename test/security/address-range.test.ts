import { describe, expect, test } from 'vitest'
import { reachOf } from '../../src/security/address-range.ts'

const ADDRESSES = {
  public: [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '172.32.0.1',
    '192.169.0.1',
    '2606:4700::1111',
    '::ffff:1.1.1.1',
  ],
  private: [
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '240.0.0.1',
    '::1',
    'fd12:3456::1',
    'fc00::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.1.2.3',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:808:808::f7f7:f7f7',
  ],
  forbidden: [
    '0.0.0.0',
    '0.1.2.3',
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '192.0.0.192',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    'fe80::1',
    'febf::1',
    'ff02::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    '::ffff:a9fe:a9fe',
  ],
} as const

describe('reachOf', () => {
  for (const [reach, addresses] of Object.entries(ADDRESSES)) {
    test.each(addresses)(`%s is ${reach}`, (address) => {
      expect(reachOf(address)).toBe(reach)
    })
  }
})
