'use strict';

/** `npm run build`: the npm packages and the addon, both only where they are not fresh. */

const { needAddon, needCargo, needNode, needPackages } = require('./tools.js');

needNode();
needCargo();
needPackages();
needAddon();
