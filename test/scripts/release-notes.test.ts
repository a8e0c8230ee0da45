import { describe, expect, test } from 'vitest'
import { releaseNotes, versionOfTag } from '../../scripts/release/release-notes.ts'

const CHANGELOG = `# Changelog

## Unreleased

### Added

- Something new.

## [1.10.0] - 2026-03-01

### Fixed

- A fault.

## 1.1.0

- The first one.

## 1.0.0
`

describe('the notes of a release', () => {
  test.each([
    ['Unreleased', '### Added\n\n- Something new.\n'],
    ['1.10.0', '### Fixed\n\n- A fault.\n'],
    ['1.1.0', '- The first one.\n'],
  ])('%s are its section', (version, notes) => expect(releaseNotes(CHANGELOG, version)).toBe(notes))

  test('the last section ends with the file', () => {
    expect(releaseNotes('## 2.0.0 - 2026-05-05\n\n- Last.', '2.0.0')).toBe('- Last.\n')
  })

  test('no section, a part of a version and an empty section are errors', () => {
    expect(() => releaseNotes(CHANGELOG, '1.2.0')).toThrow('CHANGELOG.md has no section "## 1.2.0"')
    expect(() => releaseNotes(CHANGELOG, '1.1')).toThrow('no section')
    expect(() => releaseNotes(CHANGELOG, '1.0.0')).toThrow('CHANGELOG.md says nothing about 1.0.0.')
  })
})

describe('the version of a tag', () => {
  test('is what every file says', () => {
    expect(versionOfTag('v1.2.0', { 'package.json': '1.2.0', 'openapi.yaml': '1.2.0' })).toBe('1.2.0')
  })

  test('is an error that names the files that say something else', () => {
    const versions = { 'package.json': '1.2.0', 'openapi.yaml': '1.1.0' }
    expect(() => versionOfTag('v1.2.0', versions)).toThrow('The tag is v1.2.0, but openapi.yaml says 1.1.0.')
    expect(() => versionOfTag('', versions)).toThrow('package.json says 1.2.0, openapi.yaml says 1.1.0')
  })
})
