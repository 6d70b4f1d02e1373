'use strict';
// Posts the corrections as text to the recording's page, which validates them.
if (parent !== window) parent.postMessage(document.getElementById('corrections').textContent, '*');
